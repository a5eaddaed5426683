/**
 * `pnpm chaos:kill`: how long until everything that a killed replica held is recovered by the other one.
 *
 * Two replicas, preset default, 20 runs in flight and a few claimed ahead; kill -9 of one of them, in turns the one that
 * has the duty to watch and the one that has not. The clock runs from the signal until the dead holds nothing.
 */
import { setTimeout as passing } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { queue } from '@q/client'
import { connect, createStore } from '@q/store'
import { testDatabase } from '@q/testing'
import { heldBy, recoveriesOf, summary, until, watcherId } from './looks.ts'
import { startReplica, type ReplicaProcess } from './processes.ts'
import type * as tasks from './tasks.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '20' }, preset: { type: 'string', default: 'default' } },
})
const inFlight = 20
/** A watcher holds its fire for as long as the grace. */
const settledMs = 4_000

const database = await testDatabase()
const { db, close } = connect(database.url, { purpose: 'pool' })
const q = queue<typeof tasks>(database.url)
const env = { DATABASE_URL: database.url, Q_PRESET: values.preset, Q_THREADS: String(inFlight / 2), Q_PREFETCH: '2' }
let replicas = [await startReplica(env), await startReplica(env)]
try {
  const took: number[] = []
  for (let round = 1; round <= Number(values.rounds); round++) {
    await passing(settledMs + Math.random() * 1_000)
    took.push(await killOne(round))
  }
  console.log(`\n${took.length} kills: ${summary(took)}`)
} finally {
  for (const replica of replicas) replica.kill('SIGKILL')
  await Promise.all(replicas.map((replica) => replica.exited))
  await q.close()
  await close()
  await database.drop()
}

async function killOne(round: number): Promise<number> {
  const ids = await fill()
  const watcher = await watcherId(db)
  const victim = replicas.find(({ id }) => (id === watcher) === (round % 2 === 1)) as ReplicaProcess
  const before = await heldBy(db, victim.id)
  const killedMs = performance.now()
  victim.kill('SIGKILL')
  await until(async () => holdsNothing(await heldBy(db, victim.id)), 'everything is recovered')
  const tookMs = performance.now() - killedMs
  const who = victim.id === watcher ? 'the watcher' : 'the other  '
  const held = `held ${before.running} and ${before.claimed} claimed`
  console.log(
    `${String(round).padStart(3)}  ${who}  ${Math.round(tookMs)} ms  ${held}  ${await recoveriesOf(db, victim.id)}`,
  )
  await createStore(db).cancelTaskRuns(ids)
  replicas = [...replicas.filter((replica) => replica !== victim), await startReplica(env)]
  return tookMs
}

/** Every slot of both is taken. */
async function fill() {
  const names = ['lasting', 'lastingOnce'] as const
  const runs = await Promise.all(
    Array.from({ length: inFlight + 4 }, (_, index) => q.enqueue(names[index % 2] ?? 'lasting', { ms: 3_600_000 })),
  )
  const full = async ({ id }: ReplicaProcess) => (await heldBy(db, id)).running === inFlight / 2
  await until(async () => (await Promise.all(replicas.map(full))).every(Boolean), 'all slots are taken')
  return runs.map((run) => run.id)
}

function holdsNothing({ running, claimed }: { running: number; claimed: number }): boolean {
  return running + claimed === 0
}
