import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '@q/testing'
import { drainScenario } from '../src/drain-scenario.ts'

test(
  'replicas are replaced one after the other under load: every run is executed once',
  { timeout: 180_000 },
  async () => {
    const database = await testDatabase()
    onTestFinished(() => database.drop())
    const report = await drainScenario(database.url, 3)
    expect(report).toMatchObject({ exitCodes: [0, 0, 0], wrong: [], recoveries: 0 })
  },
)
