/**
 * A port for the server that is about to start.
 *
 * First the port of its last life, so that a URL somebody wrote down stays true; then one derived from the data's
 * path; then chance. All below the range from which the kernel takes ports for outgoing connections: a port from that
 * range may be in use by some client just when the server wants it back. A port found free can still be taken before
 * the server listens: the caller then asks again and names it as refused.
 */
import { createHash, randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import type { Cluster } from './cluster.ts'
import { portOfLastLife } from './postmaster.ts'

const PORT_MIN = 20_000
const PORT_COUNT = 10_000
const CHANCES = 20

export async function choosePort(cluster: Cluster, refused: ReadonlySet<number>): Promise<number> {
  const last = await portOfLastLife(cluster)
  const chances = Array.from({ length: CHANCES }, () => PORT_MIN + randomInt(PORT_COUNT))
  const wishes = [...(last === undefined ? [] : [last]), portFromPath(cluster.data), ...chances]
  for (const port of wishes) if (!refused.has(port) && (await listenOnce(port)) !== undefined) return port
  return (await listenOnce(0)) ?? PORT_MIN
}

function portFromPath(path: string): number {
  return PORT_MIN + (createHash('sha256').update(path).digest().readUInt32LE() % PORT_COUNT)
}

/** The port, if it was free a moment ago; 0 asks the kernel for one. */
function listenOnce(wish: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen({ port: wish, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : undefined
      server.close(() => resolve(port))
    })
  })
}
