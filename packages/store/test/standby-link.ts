/**
 * The link of a standby to its primary, as the server sees it: a connection that streams from a replication slot and reports
 * the oldest snapshot of its queries (hot_standby_feedback), so that the slot holds this snapshot, too.
 */
import type { Socket } from 'node:net'
import { Client } from 'pg'

/** Ends with its connection. */
export interface StandbyLink {
  close(): Promise<void>
}

export async function standbyLink(databaseUrl: string, slot: string, oldestXid: number): Promise<StandbyLink> {
  const client = new Client({ connectionString: databaseUrl, replication: 'true' } as never)
  client.on('error', () => {})
  await client.connect()
  await client.query(`CREATE_REPLICATION_SLOT ${slot} PHYSICAL`)
  const { rows } = await client.query<{ xlogpos: string }>('IDENTIFY_SYSTEM')
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  const streaming = new Promise((resolve) => stream.once('data', resolve))
  // It is answered for as long as it streams, so nothing waits for its end.
  void client.query(`START_REPLICATION SLOT ${slot} PHYSICAL ${rows[0]?.xlogpos ?? '0/0'}`).catch(() => {})
  await streaming
  stream.write(feedback(oldestXid))
  return {
    async close() {
      stream.destroy()
      await new Promise((resolve) => stream.once('close', resolve))
    },
  }
}

/** CopyData with a message of hot standby feedback: its time, xmin and epoch, and no xmin of catalogs. */
function feedback(oldestXid: number): Buffer {
  const message = Buffer.alloc(5 + 25)
  message.write('d')
  message.writeInt32BE(4 + 25, 1)
  message.write('h', 5)
  message.writeBigInt64BE(0n, 6)
  message.writeUInt32BE(oldestXid, 14)
  return message
}
