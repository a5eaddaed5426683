/**
 * `pnpm chaos:batch`: kill -9 of a replica in the middle of batches of short runs, `--kills` times for each kind of
 * `onCrash` (batch-scenario.ts). It fails when a run has a wrong outcome, or when more `fail` runs ended without having
 * begun than documented. `--ms 0` makes the batches as large as they can be: hundreds of suspects after each kill.
 */
import { presetOption, scriptOptions } from '@q/schema/script-options'
import { testDatabase } from '@q/testing'
import { batchScenario, type BatchKill } from './batch-scenario.ts'
import { summary } from './observations.ts'

const values = scriptOptions('chaos:batch', {
  kills: { number: 20, least: 1, means: 'replicas to kill, one after the other' },
  runs: { number: 4_000, least: 1, means: 'runs of a batch' },
  ms: { number: 1, least: 0, means: 'time that a run takes' },
  preset: presetOption,
})
/** `Q_START_AHEAD_FAIL_MAX` for each of two threads. */
const neverBeganMax = 2 * 32

let failures = 0
for (const kind of ['fail', 'retry'] as const) {
  const database = await testDatabase()
  try {
    const { kills: rounds, runs, ms, preset } = values
    const options = { rounds, runs, ms, preset, kind }
    const kills = await batchScenario(database.url, options, (kill) => console.log(lineOf(kill)))
    failures += report(kind, kills)
  } finally {
    await database.drop()
  }
}
process.exitCode = failures === 0 ? 0 : 1

function lineOf({ kind, held, neverBegan, failed, recoveredMs, clearedMs }: BatchKill): string {
  const ends = `held ${held}, of which ${neverBegan} had not begun; ${failed} FAILED`
  return `${kind.padEnd(5)}  ${ends}; recovered in ${Math.round(recoveredMs)} ms, all ended ${Math.round(clearedMs)} ms later`
}

function report(kind: string, kills: readonly BatchKill[]): number {
  const wrong = kills.flatMap((kill) => kill.wrong)
  const most = Math.max(...kills.map(({ neverBegan }) => neverBegan))
  console.log(
    `${kind}: ${kills.length} kills, recovered in ${summary(kills.map(({ recoveredMs }) => recoveredMs))}; at most ${most} had not begun; ${wrong.length} runs ended otherwise than they must\n`,
  )
  for (const line of wrong) console.log(line)
  return wrong.length + (kind === 'fail' && most > neverBeganMax ? 1 : 0)
}
