/**
 * Chooses a port for the server that is about to start.
 *
 * It tries the port of the last start, so that noted URLs stay valid, then one derived from the path of the data, then random
 * ones. All are below the range of ports for outgoing connections, in which a client could hold the port when the server
 * restarts. A free port can still be taken before the server listens; the caller then excludes it and asks again.
 */
import { createHash, randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import type { Cluster } from './cluster.ts'
import { portOfLastLife } from './postmaster.ts'

const portMin = 20_000
const portCount = 10_000
const portTriesMax = 20

export async function choosePort(cluster: Cluster, refused: ReadonlySet<number>): Promise<number> {
  const last = await portOfLastLife(cluster)
  const chances = Array.from({ length: portTriesMax }, () => portMin + randomInt(portCount))
  const candidates = [...(last === undefined ? [] : [last]), portFromPath(cluster.data), ...chances]
  for (const port of candidates) if (!refused.has(port) && (await listenOnce(port)) !== undefined) return port
  return (await listenOnce(0)) ?? portMin
}

function portFromPath(path: string): number {
  return portMin + (createHash('sha256').update(path).digest().readUInt32LE() % portCount)
}

/** The port if it is free; 0 lets the kernel choose one. */
function listenOnce(candidate: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen({ port: candidate, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : undefined
      server.close(() => resolve(port))
    })
  })
}
