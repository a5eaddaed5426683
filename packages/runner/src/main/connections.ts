/** By class, so that a flood of runs cannot keep a heartbeat waiting. The session is a third class: loops/session.ts. */
import { connect, createStore, sessionsLast, type Connection, type Store } from '@q/store'
import type { RunnerConfig } from '../config.ts'
import type { Observe } from './events.ts'
import { beatIntervalMs } from './fence-bound.ts'

export interface Connections {
  /** One connection: beats and leases. */
  readonly control: Store
  /** One connection: what ended, what starts, what is next. */
  readonly turn: Connection
  /** The same, for a second exchange while there is a backlog; opened when it is first needed. */
  readonly secondTurn: Connection
  /** Everything else. */
  readonly store: Store
  close(): Promise<void>
}

/** What takes longer is of no use, and its connection is probably of none: half-open ones are found by this. */
const beatMs = { min: 2_000, max: 10_000 }
const statementMs = 10_000

export async function openConnections(
  databaseUrl: string,
  config: RunnerConfig,
  observe: Observe,
): Promise<Connections> {
  // Behind a pooler that lends connections per transaction nothing may be prepared or set.
  const prepare = await sessionsLast(databaseUrl)
  let closing = false
  // A server that stops may end a connection before it has read that this replica closes it.
  const onBroken = (purpose: string) => (error: Error) =>
    closing ? undefined : observe({ type: 'connection-lost', purpose, error })
  const statementMsMax = Math.min(beatMs.max, Math.max(beatMs.min, beatIntervalMs(config.preset.thresholds)))
  const control: Connection = connect(databaseUrl, {
    purpose: 'control',
    prepare,
    statementMsMax,
    onBroken: onBroken('control'),
  })
  const connectForTurns = (): Connection =>
    connect(databaseUrl, {
      purpose: 'turn',
      prepare,
      quiet: true,
      statementMsMax: statementMs,
      onBroken: onBroken('turn'),
    })
  const turn = connectForTurns()
  const secondTurn = connectForTurns()
  const pool: Connection = connect(databaseUrl, {
    purpose: 'pool',
    prepare,
    quiet: true,
    connectionsMax: config.connections,
    statementMsMax: statementMs,
    onBroken: onBroken('pool'),
  })
  return {
    control: createStore(control.db),
    turn,
    secondTurn,
    store: createStore(pool.db),
    async close() {
      closing = true
      await Promise.all([control.close(), turn.close(), secondTurn.close(), pool.close()])
    },
  }
}
