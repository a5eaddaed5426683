/**
 * `pnpm chaos:kill`: measures how long the other replica takes to recover all runs of a killed one, and checks the
 * outcome of each. Uses two replicas with the preset default and 20 runs in flight (kill-scenario.ts). It fails when a
 * run has a wrong outcome, or when the 99th percentile of the recovery times exceeds the documented bound. `--kills 200
 * --load 5` measures it on a busy machine: 5 threads that compute without a pause run beside the replicas.
 */
import { presetOption, scriptOptions } from '@q/schema/script-options'
import { testDatabase } from '@q/testing'
import { killScenario, type Kill } from './kill-scenario.ts'
import { spread, summary } from './observations.ts'
import { startLoad } from './processes.ts'

const values = scriptOptions('chaos:kill', {
  kills: { number: 20, least: 1, means: 'replicas to kill, one after the other' },
  load: { number: 0, least: 0, means: 'threads that compute without a pause beside the replicas' },
  preset: presetOption,
})
const promisedMs = { p50: 4_000, p99: 5_000 }

const database = await testDatabase()
const load = startLoad(values.load)
try {
  const options = {
    rounds: values.kills,
    preset: values.preset,
    inFlight: 20,
    restMs: () => 4_000 + Math.random() * 1_000,
  }
  let round = 0
  const kills = await killScenario(database.url, options, (kill) => console.log(lineOf(++round, kill)))
  const took = kills.map(({ tookMs }) => tookMs)
  const wrong = kills.flatMap((kill) => kill.wrong)
  console.log(
    `\n${kills.length} kills at load ${values.load}: ${summary(took)}; ${wrong.length} runs ended otherwise than they must`,
  )
  for (const line of wrong) console.log(line)
  const { p50, p99 } = spread(took)
  process.exitCode = wrong.length === 0 && p50 <= promisedMs.p50 && p99 <= promisedMs.p99 ? 0 : 1
} finally {
  await load.stop()
  await database.drop()
}

function lineOf(round: number, { wasWatcher, tookMs, running, claimed, recoveries }: Kill): string {
  const who = wasWatcher ? 'the watcher' : 'the other  '
  const held = `held ${running} and ${claimed} claimed`
  return `${String(round).padStart(3)}  ${who}  ${Math.round(tookMs)} ms  ${held}  ${recoveries}`
}
