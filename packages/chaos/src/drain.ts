/** `pnpm chaos:drain`: replaces replicas one after the other by SIGTERM under constant load. */
import { scriptOptions } from '@q/schema/script-options'
import { testDatabase } from '@q/testing'
import { drainScenario } from './drain-scenario.ts'

const values = scriptOptions('chaos:drain', {
  rounds: { number: 20, least: 1, means: 'replicas to replace' },
})
const database = await testDatabase()
try {
  const { runs, exitCodes, wrong, recoveries } = await drainScenario(database.url, values.rounds)
  console.log(`${exitCodes.length} replicas left, with the exit codes ${[...new Set(exitCodes)].join(', ')}`)
  console.log(`${runs} runs: ${wrong.length} were not executed exactly once, ${recoveries} were recovered`)
  for (const line of wrong) console.log(line)
  process.exitCode = wrong.length + recoveries === 0 && exitCodes.every((code) => code === 0) ? 0 : 1
} finally {
  await database.drop()
}
