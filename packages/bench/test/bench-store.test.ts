import { expect, onTestFinished, test } from 'vitest'
import { connect } from '@q/store'
import { testDatabase } from '@q/testing'
import { benchStore } from '../src/bench-store.ts'
import { report } from '../src/report.ts'

// The meter reads /proc, and the test server may be elsewhere.
const canMeter = process.platform === 'linux' && process.env.Q_TEST_DATABASE_URL === undefined

test.runIf(canMeter)('every scenario of the store’s benchmark runs to its end and has figures', async () => {
  const database = await testDatabase()
  const connection = connect(database.url, { purpose: 'turn', quiet: true })
  onTestFinished(async () => {
    await connection.close()
    await database.drop()
  })
  const figures = await benchStore({ connection, rows: 40, batch: 10 }, { rounds: 1 })
  expect(figures.length).toBeGreaterThan(0)
  expect(figures.filter(({ cpuUs, walBytes }) => !(cpuUs[0] > 0 && walBytes[0] > 0))).toEqual([])
  expect(report(figures).split('\n')).toHaveLength(figures.length + 1)
})
