/**
 * Opens the connections of a replica, one class per purpose, so that a flood of runs cannot delay a heartbeat.
 * presence-session.ts opens the replica's session.
 */
import { connect, createStore, keepsSessions, type Connection, type Store } from '@q/store'
import type { RunnerConfig } from '../settings/config.ts'
import type { Observe } from './events.ts'
import { beatIntervalMs } from './liveness/self-fence-limits.ts'

export interface Connections {
  /** One connection for heartbeats, leases and duties. */
  readonly control: Store
  /** One connection for exchanges. */
  readonly exchange: Connection
  /** One connection for the second exchange during a backlog; it opens on first use. */
  readonly secondExchange: Connection
  /** A pool for everything else. */
  readonly store: Store
  close(): Promise<void>
}

/** Limits of a heartbeat statement. A statement that takes longer is useless; the limit also detects half-open connections. */
const beatMs = { min: 2_000, max: 10_000 }
const statementMs = 10_000

export async function openConnections(
  databaseUrl: string,
  config: RunnerConfig,
  observe: Observe,
): Promise<Connections> {
  // Prepared statements and session settings do not work behind a transaction pooler.
  const prepare = await keepsSessions(databaseUrl)
  let closing = false
  // A server that shuts down may end a connection while this replica closes it: that is not an error.
  const onBroken = (purpose: string) => (error: Error) =>
    closing ? undefined : observe({ type: 'connection-lost', purpose, error })
  const statementMsMax = Math.min(beatMs.max, Math.max(beatMs.min, beatIntervalMs(config.preset.thresholds)))
  const control: Connection = connect(databaseUrl, {
    purpose: 'control',
    prepare,
    statementMsMax,
    onBroken: onBroken('control'),
  })
  const connectForExchange = (): Connection =>
    connect(databaseUrl, {
      purpose: 'exchange',
      prepare,
      quiet: true,
      statementMsMax: statementMs,
      onBroken: onBroken('exchange'),
    })
  const exchange = connectForExchange()
  const secondExchange = connectForExchange()
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
    exchange,
    secondExchange,
    store: createStore(pool.db),
    async close() {
      closing = true
      await Promise.all([control.close(), exchange.close(), secondExchange.close(), pool.close()])
    },
  }
}
