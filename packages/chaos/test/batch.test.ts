import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '@q/testing'
import { batchScenario, type Kind } from '../src/batch-scenario.ts'

test.each<Kind>(['fail', 'retry'])(
  'kill -9 in the middle of a batch of runs with onCrash %s: every run has the promised outcome, and few fail without having begun',
  { timeout: 240_000 },
  async (kind) => {
    const database = await testDatabase()
    onTestFinished(() => database.drop())
    const [kill] = await batchScenario(database.url, { rounds: 1, preset: 'fast', kind, runs: 600 })
    expect(kill).toMatchObject({ kind, wrong: [] })
    expect(kill?.neverBegan).toBeLessThanOrEqual(kind === 'fail' ? 64 : 512)
    expect(kill?.failed).toBe(kind === 'fail' ? kill?.held : 0)
  },
)
