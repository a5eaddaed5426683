import { expect, onTestFinished, test } from 'vitest'
import { exampleCluster } from './example-cluster.ts'
import { startQ } from './program.ts'

test('q logs -f of a run that has not started says so at once, and ends with the run', async () => {
  const { env, store, runs, close } = await exampleCluster()
  onTestFinished(close)
  const following = startQ(['logs', runs.ready, '-f'], env)
  expect(await following.line('has not started')).toBe(
    `Run ${runs.ready} is AVAILABLE: its code has not started. q why ${runs.ready} tells why.`,
  )
  await store.cancelTaskRuns([runs.ready], 'not needed')
  expect(await following.ended).toMatchObject({ code: 0, stderr: expect.stringContaining('ended CANCELLED.') })
})
