/**
 * `pnpm chaos:operation`: 10 000 failed runs, retried by one operation, whose replica is killed twice. It fails unless every
 * run that had failed at the request has exactly one new epoch, and no run that failed later has one.
 */
import { scriptOptions } from '@q/schema/script-options'
import { testDatabase } from '@q/testing'
import { operationScenario } from './operation-scenario.ts'

const values = scriptOptions('chaos:operation', {
  runs: { number: 10_000, least: 1, means: 'failed runs to retry' },
  kills: { number: 2, least: 0, means: 'how often the replica that executes the operation dies' },
})
const runs = values.runs
const database = await testDatabase()
try {
  const options = { runs, kills: values.kills }
  const { operation, epochs, tookMs } = await operationScenario(database.url, options, (changed) =>
    console.log(`killed the replica that executes the operation after ${changed} runs`),
  )
  const { state, looked, changed, answers } = operation
  console.log(`operation ${state} after ${Math.round(tookMs)} ms: looked ${looked}, changed ${changed}`, answers)
  console.log('runs by time of failure and epoch:', epochs)
  const isExact =
    epochs['before 2'] === runs && Object.keys(epochs).every((key) => ['before 2', 'after 1'].includes(key))
  console.log(isExact ? `exactly ${runs} new epochs, later failures untouched` : 'WRONG')
  process.exitCode = isExact && changed === runs ? 0 : 1
} finally {
  await database.drop()
}
