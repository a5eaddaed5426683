/** Commands against two replicas whose runs fail, hang, crash and wait: what a person on call does, in that order. */
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '@q/testing'
import { startReplica } from './program.ts'
import { q, qJson } from './terminal.ts'

const tasks = fileURLToPath(new URL('./tasks/fleet.ts', import.meta.url))

test('what fails, hangs, crashes and waits is found, explained and ended by commands alone', async () => {
  const { url, drop } = await testDatabase()
  onTestFinished(drop)
  const env = { DATABASE_URL: url }
  const replica = { ...env, Q_TASKS: tasks, Q_PRESET: 'fast', Q_THREADS: '3' }
  await Promise.all([startReplica({ ...replica, Q_NAME: 'eu-1' }), startReplica({ ...replica, Q_NAME: 'eu-2' })])
  const answer = async <T>(line: string) => (await qJson(line.split(' '), env)).json as T
  const text = async (line: string) => (await q(line.split(' '), env)).stdout
  const enqueued = async (line: string): Promise<string> => (await answer<{ id: string }>(`enqueue ${line}`)).id
  const state = async (run: string): Promise<string> =>
    (await answer<{ run: { status: string } }>(`show ${run}`)).run.status

  // fails
  expect(await q(['enqueue', 'fails', '{"why":"disk full"}', '--wait'], env)).toMatchObject({ code: 1 })
  expect(await text('runs --view failed')).toMatch(/FAILED +fails .*TASK_ERROR {2}Error: disk full/)

  // hangs
  const hanging = await enqueued('hangs {}')
  await expect.poll(() => text('runs --view running')).toContain('hangs')
  expect(await text(`cancel ${hanging}`)).toContain('was asked to stop it')
  await expect.poll(() => state(hanging)).toBe('CANCELLED')

  // waits
  const [holder, waiting] = [
    await enqueued('keyed {"key":"a","ms":600000}'),
    await enqueued('keyed {"key":"a","ms":0}'),
  ]
  await expect
    .poll(() => text(`why ${waiting}`))
    .toMatch(new RegExp(`waits for its concurrency key a .*held by ${holder} `))
  const unserved = await enqueued('needsGpu {}')
  expect(await text(`why ${unserved}`)).toContain('It requires gpu')
  await expect.poll(() => text('status')).toMatch(/needsGpu: 1 run cannot start.* q why \d+/)
  expect(await text('runs --view waiting')).toMatch(/keyed[^]*needsGpu/)

  // crashes: it kills its replica, and perhaps the run that holds the key
  const crashing = await enqueued('crashes {}')
  await expect
    .poll(() => text('recoveries'))
    .toMatch(new RegExp(`^ *${crashing} +crashes .*FAILED WORKER_CRASHED .*to review`, 'm'))
  expect(await text('status')).toMatch(/nodes 1 alive, 1 lost[^]* q review/)
  expect(await text(`review accept ${crashing}`)).toContain('1 recovery accepted.')

  // drain
  const { items } = await answer<{ items: { name: string; state: string }[] }>('nodes')
  const node = items.find((one) => one.state === 'alive')?.name
  const rendering = await enqueued('render {"ms":600000}')
  await expect.poll(() => text(`node ${node}`)).toContain('render')
  const drained = await q(['drain', `${node}`, '--deadline', '1s', '--on-deadline', 'release', '--wait'], env)
  expect(drained).toMatchObject({ code: 0, stdout: expect.stringMatching(/stopped cleanly .* 0 lost/) })
  expect(await state(rendering)).toBe('AVAILABLE')
  expect(await text('status')).toMatch(/No node is alive: nothing is executed\. +q start/)
  expect(await text('actions')).toMatch(/drain +eu-\d[^]*review[^]*cancel/)
})
