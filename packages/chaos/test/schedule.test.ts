import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '@q/testing'
import { scheduleScenario } from '../src/schedule-scenario.ts'

test('three replicas, a schedule each second, the one that enqueues is killed: no tick is missed or doubled', async () => {
  const database = await testDatabase()
  onTestFinished(() => database.drop())
  const report = await scheduleScenario(database.url, 6)
  expect(report).toMatchObject({ missed: [], doubled: 0 })
  expect(report.ticks).toBeGreaterThanOrEqual(6)
})
