/**
 * Reads the rest of a request that was refused before its body was read. If the connection were closed with unread data,
 * the system would reset it, and the client would lose the answer. Bounded: a body that is larger or slower is cut off.
 */
import type { IncomingMessage } from 'node:http'

export const discardBytesMax = 16_777_216
const discardMsMax = 20_000

export async function discardBody(incoming: IncomingMessage): Promise<void> {
  if (incoming.complete || incoming.destroyed) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, discardMsMax)
  let bytes = 0
  const count = (part: Buffer) => {
    bytes += part.length
    if (bytes > discardBytesMax) resolve()
  }
  incoming.on('data', count).once('end', resolve).once('close', resolve).once('error', resolve)
  incoming.resume()
  await promise
  clearTimeout(timer)
  incoming.off('data', count).off('end', resolve).off('close', resolve).off('error', resolve)
  incoming.pause()
}
