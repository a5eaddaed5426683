/**
 * Finds out why a connection failed, so that the error can name the reason: PostgreSQL answers the eight bytes of an SSL
 * request with one byte, S or N. A proxy whose server is away accepts the connection and closes it without an answer.
 */
import { createConnection } from 'node:net'

const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])

export type ProbeResult = 'postgresql' | 'something-else' | 'closed' | 'nothing'

/** Without a host nothing is sent, and the server counts as answering. */
export async function probeServer({ host, port }: { host: string; port: number }): Promise<ProbeResult> {
  if (host === '') return 'postgresql'
  const { promise, resolve } = Promise.withResolvers<ProbeResult>()
  const where = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
  const socket = createConnection({ ...where, timeout: 3_000 })
  socket.once('connect', () => socket.write(sslRequest))
  socket.once('data', (bytes) => resolve(/^[SN]$/.test(bytes.toString('latin1')) ? 'postgresql' : 'something-else'))
  socket.once('close', () => resolve('closed'))
  // No process listens, or it is stopped and does not answer.
  socket.once('timeout', () => resolve('nothing'))
  socket.once('error', () => resolve('nothing'))
  return promise.finally(() => socket.destroy())
}
