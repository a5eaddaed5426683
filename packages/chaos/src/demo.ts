/**
 * `pnpm demo`: three replicas, a stream of CPU-heavy runs of several tasks and tenants, a workflow and a schedule, some
 * failures, and kill -9 of a replica every few seconds. It ends by itself (`--for 120`, seconds) or with Ctrl-C, and
 * reports the replicas that were killed, and the runs that were recovered or lost.
 */
import { scriptOptions } from '@q/schema/script-options'
import { findDatabase } from '@q/runner/database'
import { prepareServer, type PageServer } from '@q/server'
import { connect, createStore, migrateDatabase } from '@q/store'
import { runFleet, type DemoKill } from './demo/fleet.ts'
import { outcomesOf, type Outcomes } from './demo/outcomes.ts'
import { produce } from './demo/producer.ts'
import { summary } from './observations.ts'

const values = scriptOptions('demo', {
  for: { number: 120, least: 1, means: 'seconds that the demo lasts' },
  'kill-every': { number: 8, least: 1, means: 'seconds between two kills' },
})
const database = await findDatabase(process.env, { notice: (sentence) => console.error(sentence) })
const ending = new AbortController()
process.once('SIGINT', () => ending.abort())
process.once('SIGTERM', () => ending.abort())
const { db, close } = connect(database.url, { purpose: 'pool' })
let page: PageServer | undefined
try {
  await migrateDatabase(database.url)
  page = await prepareServer(process.env)({ databaseUrl: database.url, version: 'demo' })
  console.log(`Three replicas on ${database.description}.`)
  // The token is for a terminal, never for a log.
  console.log(`Watch them: ${process.stdout.isTTY ? page.link : page.url}`)
  console.log(`It ends after ${values.for} s, or with Ctrl-C. In another terminal: npx --yes pnpm@12 q top\n`)
  const store = createStore(db)
  const timer = setTimeout(() => ending.abort(), values.for * 1_000)
  const [kills, { runIds, workflows }] = await Promise.all([
    runFleet(
      {
        databaseUrl: database.url,
        store,
        replicas: 3,
        killEveryMs: values['kill-every'] * 1_000,
        onKill: (kill) => console.log(killLine(kill)),
      },
      ending.signal,
    ),
    produce(database.url, ending.signal),
  ])
  clearTimeout(timer)
  const outcomes = await outcomesOf(store, runIds)
  console.log(`\n${summaryOf(kills, runIds.length, workflows, outcomes)}`)
  process.exitCode = outcomes.lost === 0 ? 0 : 1
} finally {
  await page?.close('The demo has ended.')
  await close()
  await database.close()
}

function killLine({ name, held, recoveredMs }: DemoKill): string {
  return `kill -9 ${name}: it held ${held} runs; another replica had recovered them after ${(recoveredMs / 1_000).toFixed(1)} s`
}

function summaryOf(kills: readonly DemoKill[], runs: number, workflows: number, outcomes: Outcomes): string {
  const counted = (counts: ReadonlyMap<string, number>) =>
    [...counts].map(([name, count]) => `${count} ${name}`).join(', ') || 'none'
  const held = kills.reduce((sum, kill) => sum + kill.held, 0)
  return [
    `killed     ${kills.length} replicas, which held ${held} runs`,
    `recovered  ${held} runs: ${kills.length === 0 ? 'none was killed' : summary(kills.map(({ recoveredMs }) => recoveredMs))}`,
    `enqueued   ${runs} runs and ${workflows} workflows`,
    `states     ${counted(outcomes.byStatus)}`,
    `codes      ${counted(outcomes.byCode)}`,
    `lost       ${outcomes.lost}`,
  ].join('\n')
}
