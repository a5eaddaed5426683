import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { eventually } from './fixture.ts'
import { fleet } from './fleet.ts'
import { gate } from './gate.ts'

test('a replica that cannot stop a run in time leaves without it, does not release it, and exits with 7', async () => {
  const { start, store, run } = await fleet()
  const { file: until, open } = gate()
  const leaving = await start({ Q_DRAIN_MS: '0' })
  const lane = await store.internLane({ queue: 'default', task: 'unstoppable' })
  const [enqueued] = await store.enqueueTaskRuns([{ task: 'unstoppable', lane, onCrash: 'retry', payload: { until } }])
  const { id } = enqueued!
  // A run is RUNNING before its thread has begun it, and a run that has not begun is released.
  await eventually(() => (existsSync(`${until}.begun`) ? true : undefined), 'start')
  leaving.kill('SIGTERM')
  const words = 'left with runs that could not be stopped or settled; others will recover them'
  await eventually(() => leaving.said(words)[0], 'it leaves without it')
  expect(await run(id)).toMatchObject({ status: 'RUNNING', replicaId: leaving.id })
  open()
  expect(await leaving.ended).toEqual({ code: 7, signal: null })
})
