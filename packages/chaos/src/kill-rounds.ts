/** Two replicas in processes of their own, of which each round kills one and starts another in its place. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createStore, type Connection, type Store } from '@q/store'
import { startReplica, type ReplicaProcess } from './processes.ts'

export interface KillScene {
  readonly db: Connection['db']
  readonly store: Store
  /** For marks and gates of runs. */
  readonly folder: string
  /** The two that live. */
  replicas(): readonly ReplicaProcess[]
  /** Starts a replica in place of a dead one. */
  replace(dead: ReplicaProcess): Promise<void>
}

export interface KillRounds<Kill> {
  readonly rounds: number
  /** The settings of the replicas, besides the database. */
  readonly env: Record<string, string>
  readonly killOne: (scene: KillScene, round: number) => Promise<Kill>
  readonly onKill: (kill: Kill) => void
}

export async function killRounds<Kill>(
  databaseUrl: string,
  { rounds, env, killOne, onKill }: KillRounds<Kill>,
): Promise<Kill[]> {
  const { db, close } = connect(databaseUrl, { purpose: 'pool' })
  const folder = mkdtempSync(join(tmpdir(), 'q-kill-'))
  const start = () => startReplica({ DATABASE_URL: databaseUrl, ...env })
  let replicas: ReplicaProcess[] = []
  const scene: KillScene = {
    db,
    store: createStore(db),
    folder,
    replicas: () => replicas,
    async replace(dead) {
      replicas = [...replicas.filter((replica) => replica !== dead), await start()]
    },
  }
  try {
    replicas = [await start()]
    replicas = [...replicas, await start()]
    const kills: Kill[] = []
    for (let round = 1; round <= rounds; round++) {
      const kill = await killOne(scene, round)
      kills.push(kill)
      onKill(kill)
    }
    return kills
  } finally {
    for (const replica of replicas) replica.kill('SIGKILL')
    await Promise.all(replicas.map((replica) => replica.exited))
    await close()
    rmSync(folder, { recursive: true, force: true })
  }
}
