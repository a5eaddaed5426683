/**
 * Listens on loopback, IPv4 and IPv6, or on one configured address. Without a configured port it takes the first free one
 * from 7780, so that several replicas of a machine each have their own.
 */
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ExplainedError } from '@q/schema'

export interface Listening {
  readonly port: number
  close(): Promise<void>
}

export interface ListenOptions {
  readonly address?: string
  readonly port?: number
  /** The settings for address and port, for error texts. */
  readonly variables?: 'Q_METRICS_ADDRESS'
  /** The time limit for a client to send its headers. */
  readonly headersMs?: number
}

const firstPort = 7_780
const portsTried = 100
const headersMs = 10_000
const requestMs = 30_000
const connectionsMax = 1_000

export async function listenHttp(listener: RequestListener, options: ListenOptions): Promise<Listening> {
  const { address, port } = options
  const main = address ?? '127.0.0.1'
  const server =
    port === undefined ? await onFirstFree(listener, main, options) : await onPort(listener, main, port, options)
  const taken = (server.address() as AddressInfo).port
  // Without IPv6, or if another server uses the port there, it listens on IPv4 only.
  const second =
    address === undefined ? await onPort(listener, '::1', taken, options).catch(() => undefined) : undefined
  const servers = second === undefined ? [server] : [server, second]
  return {
    port: taken,
    async close() {
      await Promise.all(servers.map(closed))
    },
  }
}

async function onFirstFree(listener: RequestListener, address: string, options: ListenOptions): Promise<Server> {
  for (let port = firstPort; port < firstPort + portsTried; port++) {
    const server = await onPort(listener, address, port, options).catch((error: unknown) => {
      if (error instanceof ExplainedError && error.code === 'PORT_IN_USE') return undefined
      throw error
    })
    if (server !== undefined) return server
  }
  return onPort(listener, address, 0, options)
}

async function onPort(
  listener: RequestListener,
  address: string,
  port: number,
  options: ListenOptions,
): Promise<Server> {
  const server = createServer(
    {
      headersTimeout: options.headersMs ?? headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.min(options.headersMs ?? headersMs, 5_000) / 2,
      keepAliveTimeout: 5_000,
    },
    listener,
  )
  server.maxConnections = connectionsMax
  // checks.ts refuses more headers; with a lower limit Node would drop them silently.
  server.maxHeadersCount = 0
  try {
    await once(server.listen(port, address), 'listening')
  } catch (cause) {
    throw refused(address, port, cause, options.variables)
  }
  return server
}

async function closed(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  server.closeAllConnections()
  await promise
}

function refused(address: string, port: number, cause: unknown, variables: ListenOptions['variables']): ExplainedError {
  const what = `The server cannot listen on ${address} port ${port}.`
  if (cause instanceof Error && Reflect.get(cause, 'code') === 'EADDRINUSE')
    return new ExplainedError({
      code: 'PORT_IN_USE',
      what,
      why: 'Another program listens there.',
      fix:
        variables === undefined
          ? 'Set Q_HTTP_PORT to another port, or leave it out: then the first free one is taken.'
          : `Set ${variables} to another port; each replica of a machine needs its own.`,
      cause,
    })
  return new ExplainedError({
    code: 'ADDRESS_UNUSABLE',
    what,
    why: cause instanceof Error ? cause.message : 'The system refused it.',
    fix: `Correct ${variables ?? 'Q_HTTP_ADDRESS and Q_HTTP_PORT'}.`,
    cause,
  })
}
