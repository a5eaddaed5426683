/** Attention items about the database server. */
import type { Db } from '../../connection/db.ts'
import { inspectServer, type ServerFacts } from '../../doctor/server.ts'
import { inspectSnapshots, type SnapshotHolder } from '../../doctor/snapshots.ts'
import { inspectTables, type TableHealth } from '../../doctor/tables.ts'
import { inWords } from '../words.ts'
import type { Attention } from './attention-item.ts'

const snapshotMsMax = 600_000
const usedShareMax = 0.9
const deadMin = 10_000

export async function aboutServer(db: Db): Promise<Attention[]> {
  const snapshots = await inspectSnapshots(db)
  const { connections } = await inspectServer(db)
  return aboutServerFacts(snapshots, connections, await inspectTables(db))
}

export function aboutServerFacts(
  snapshots: readonly SnapshotHolder[],
  connections: ServerFacts['connections'],
  tables: readonly TableHealth[],
): Attention[] {
  return [...heldSnapshot(snapshots), ...scarceConnections(connections), ...tables.flatMap(deadTuples)]
}

const place = { command: 'q doctor', page: '/' } as const

function heldSnapshot(holders: readonly SnapshotHolder[]): Attention[] {
  const [oldest] = holders.filter(({ forMs }) => (forMs ?? 0) > snapshotMsMax)
  if (oldest === undefined) return []
  const { pid, name, user, forMs } = oldest
  const who = [name, pid === null ? [] : `pid ${pid}`, user ?? []].flat().join(', ')
  return [
    {
      kind: 'snapshot-held',
      level: 'warn',
      subject: name,
      sentence: `A transaction has held a snapshot for ${inWords(forMs ?? 0)} (${who}): claims slow down with every dead row.`,
      detail: pid === null ? null : `SELECT pg_terminate_backend(${pid}); ends it.`,
      ...place,
      facts: { pid, name, forMs: Math.round(forMs ?? 0) },
    },
  ]
}

function scarceConnections({ used, max }: ServerFacts['connections']): Attention[] {
  if (used <= max * usedShareMax) return []
  return [
    {
      kind: 'connections-scarce',
      level: 'warn',
      subject: 'connections',
      sentence: `${used} of ${max} connections of the server are in use.`,
      detail: 'A node that finds none free cannot send heartbeats.',
      ...place,
      facts: { used, max },
    },
  ]
}

function deadTuples({ table, live, dead }: TableHealth): Attention[] {
  if (dead <= live || dead < deadMin) return []
  return [
    {
      kind: 'dead-tuples',
      level: 'warn',
      subject: table,
      sentence: `q.${table} has more dead rows than live ones: ${dead} against ${live}.`,
      detail: 'Autovacuum is behind, switched off, or held back by an old snapshot.',
      ...place,
      facts: { dead, live },
    },
  ]
}
