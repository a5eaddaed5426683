import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '@q/testing'
import { killScenario } from '../src/kill-scenario.ts'
import { spread } from '../src/observations.ts'

test(
  'kill -9 of the watcher or of the other of two replicas: every run has the promised outcome',
  { timeout: 180_000 },
  async () => {
    const database = await testDatabase()
    onTestFinished(() => database.drop())
    const kills = await killScenario(database.url, { rounds: 2, preset: 'default', inFlight: 8, restMs: () => 0 })
    expect(kills).toMatchObject([
      { wasWatcher: true, running: 4, claimed: 2, wrong: [] },
      { wasWatcher: false, running: 4, claimed: 2, wrong: [] },
    ])
  },
)

test('percentiles of recovery times are times that were measured', () => {
  const tookMs = Array.from({ length: 200 }, (_, index) => 200 - index)
  expect(spread(tookMs)).toEqual({ p50: 100, p99: 198, max: 200 })
  expect(spread([7])).toEqual({ p50: 7, p99: 7, max: 7 })
})
