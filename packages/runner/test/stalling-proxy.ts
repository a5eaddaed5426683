/** Between a replica and its database: a network that can stop all traffic, with or without closing connections. */
import type { Socket } from 'node:net'
import { testProxy } from '../../store/test/test-proxy.ts'

export interface StallingProxy {
  readonly url: string
  /** From now on nothing arrives, in either direction, and new connections are accepted and ignored. */
  stall(): void
  /** Answers no longer arrive, on new connections too. What the replica sends does, and the end of its connections. */
  mute(): void
  /** Nothing arrives on the connections of now, in either direction; new ones work. */
  halfOpen(): void
  /** Every connection is broken, and new ones are too. */
  cut(): void
  /** The same, as soon as an answer contains the text, which does not arrive. */
  cutAt(text: string): void
  restore(): void
}

export async function stallingProxy(databaseUrl: string): Promise<StallingProxy> {
  const answering = new Set<Socket>()
  let stalled = false
  let muted = false
  let broken = false
  let deadly: string | undefined
  const { url, sockets } = await testProxy(databaseUrl, (client, { connect }) => {
    if (broken) return void client.destroy()
    if (stalled) return void client.pause()
    const upstream = connect()
    answering.add(upstream)
    upstream.on('data', (answer: Buffer) => {
      if (deadly !== undefined && answer.includes(deadly)) cut()
    })
    client.pipe(upstream)
    if (!muted) upstream.pipe(client)
  })
  function cut(): void {
    broken = true
    for (const socket of sockets) socket.destroy()
  }
  return {
    url,
    cut,
    cutAt(text) {
      deadly = text
    },
    restore() {
      broken = muted = false
    },
    mute() {
      muted = true
      for (const upstream of answering) upstream.unpipe().pause()
    },
    halfOpen() {
      for (const socket of sockets) socket.unpipe().pause()
    },
    stall() {
      stalled = true
      for (const socket of sockets) socket.unpipe().pause()
    },
  }
}
