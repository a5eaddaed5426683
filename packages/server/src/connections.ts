/**
 * The connections of the server: a pool on which the database refuses writes, for reads; others for actions and
 * enqueues.
 */
import { queue } from '@q/client'
import { connect, createStore } from '@q/store'
import type { HandlerDeps } from './handlers/handler-deps.ts'
import { hidingReads } from './secrets/hiding-reads.ts'
import type { Secrets } from './secrets/secrets.ts'

export interface ServerConnections extends Omit<HandlerDeps, 'version'> {
  close(): Promise<void>
}

const readConnections = 4
const writeConnections = 2

/** `secrets`: hides values in the results of reads; actions use the full values. */
export function openServerConnections(databaseUrl: string, secrets: Secrets): ServerConnections {
  const reading = connect(databaseUrl, { purpose: 'page', connectionsMax: readConnections })
  const writing = connect(databaseUrl, { purpose: 'pool', connectionsMax: writeConnections })
  const producer = queue(databaseUrl)
  return {
    reads: hidingReads(createStore(reading.db), secrets),
    writes: createStore(writing.db),
    queue: producer,
    async close() {
      await Promise.all([reading.close(), writing.close(), producer.close()])
    },
  }
}
