/**
 * Three replicas; every few seconds one is killed (kill -9) and replaced. A recovery is measured from the signal until
 * the dead replica holds no run in the database.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Store } from '@q/store'
import { startReplica, type ReplicaProcess } from '../processes.ts'

export interface FleetOptions {
  readonly databaseUrl: string
  readonly store: Store
  readonly replicas: number
  readonly killEveryMs: number
  readonly onKill: (kill: DemoKill) => void
}

export interface DemoKill {
  readonly name: string
  /** Runs that the replica held. */
  readonly held: number
  /** Time until another replica had recovered them. */
  readonly recoveredMs: number
}

interface Member {
  readonly name: string
  readonly process: ReplicaProcess
}

const tasks = fileURLToPath(new URL('./demo-tasks.ts', import.meta.url))
const recoveryMsMax = 60_000
const exitMsMax = 40_000

/** Kills and replaces until the signal aborts; then drains all replicas. Returns the kills. */
export async function runFleet(options: FleetOptions, signal: AbortSignal): Promise<DemoKill[]> {
  const { databaseUrl, store, replicas, killEveryMs, onKill } = options
  const start = async (name: string): Promise<Member> => ({
    name,
    process: await startReplica({ DATABASE_URL: databaseUrl, Q_TASKS: tasks, Q_NAME: name, Q_THREADS: '2' }),
  })
  const members = await Promise.all(Array.from({ length: replicas }, (_, index) => start(`eu-${index + 1}`)))
  const kills: DemoKill[] = []
  try {
    for (let round = 0; !signal.aborted; round++) {
      await sleep(killEveryMs, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) break
      const index = round % members.length
      const kill = await killOne(members[index] as Member, store)
      kills.push(kill)
      onKill(kill)
      members[index] = await start(kill.name)
    }
    for (const { process } of members) process.kill('SIGTERM')
    const left = Promise.all(members.map(({ process }) => process.exited))
    await Promise.race([left, sleep(exitMsMax, undefined, { ref: false })])
    return kills
  } finally {
    for (const { process } of members) process.kill('SIGKILL')
  }
}

async function killOne({ name, process }: Member, store: Store): Promise<DemoKill> {
  const held = (await store.heldTaskRuns(process.id)).length
  const killedAtMs = performance.now()
  process.kill('SIGKILL')
  await process.exited
  const sinceMs = () => performance.now() - killedAtMs
  while ((await store.heldTaskRuns(process.id)).length > 0 && sinceMs() < recoveryMsMax) await sleep(50)
  return { name, held, recoveredMs: sinceMs() }
}
