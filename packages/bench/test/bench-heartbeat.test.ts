import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '@q/testing'
import { benchHeartbeat } from '../src/bench-heartbeat.ts'

test('every kind of sign of life has a cost', async () => {
  const database = await testDatabase()
  onTestFinished(database.drop)
  const costs = await benchHeartbeat(database.url, 20_000)
  expect(Object.keys(costs).toSorted()).toEqual([
    'heartbeat()',
    "heartbeat(), onCrash: 'retry'",
    'heartbeat(progress)',
    'heartbeat(progress, note)',
    'log.info(line)',
  ])
  expect(Object.values(costs).filter((ns) => !(ns > 0))).toEqual([])
})
