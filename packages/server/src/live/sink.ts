/** Writes a stream to its response. A viewer that does not read for too long is disconnected. */
import type { ServerResponse } from 'node:http'

export interface Sink {
  /** Resolves when the text was accepted, or the stream has ended. */
  write(text: string): Promise<void>
  end(): void
}

const unreadMsMax = 15_000

/** A response that waits behind another one of its connection has no `close` event: the connection has it. */
export function responseSink(response: ServerResponse, onClose: () => void): Sink {
  const { socket } = response.req
  socket.once('close', onClose)
  response.once('close', () => {
    socket.off('close', onClose)
    onClose()
  })
  response.on('error', () => {})
  return {
    async write(text) {
      if (response.destroyed || response.writableEnded || response.write(text)) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const cut = setTimeout(() => response.destroy(), unreadMsMax)
      response.once('drain', resolve).once('close', resolve)
      await promise
      clearTimeout(cut)
      response.off('drain', resolve).off('close', resolve)
    },
    end: () => void response.end(),
  }
}
