/** Streams that a proxy holds back, wholly or after the first frames: the page polls, and says so. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { runStream } from '../src/live/stream.ts'

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('localStorage', { getItem: () => null })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** A server that sends `frames` at the beginning of each stream, then the others each 10 s. */
function serve(atFirst: readonly string[], later: readonly string[]) {
  const opened: number[] = []
  const text = (events: readonly string[]) =>
    new TextEncoder().encode(events.map((event) => `event: ${event}\ndata: {}\n\n`).join(''))
  vi.stubGlobal('fetch', (_: string, { signal }: RequestInit) => {
    opened.push(Date.now())
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(text(atFirst))
        const timer = setInterval(() => later.length > 0 && controller.enqueue(text(later)), 10_000)
        signal?.addEventListener('abort', () => {
          clearInterval(timer)
          controller.error(signal.reason)
        })
      },
    })
    return Promise.resolve(new Response(body))
  })
  return opened
}

async function follow(forMs: number) {
  const modes: string[] = []
  const stop = new AbortController()
  const running = runStream('/events', { onFrame: () => {}, onMode: (mode) => modes.push(mode) }, stop.signal)
  await vi.advanceTimersByTimeAsync(forMs)
  stop.abort()
  await running
  return modes
}

test('three streams without a first frame: polling', async () => {
  const opened = serve([], [])
  expect((await follow(30_000)).at(-1)).toBe('polling')
  expect(opened).toHaveLength(3)
})

test('three streams that deliver nothing after their first frames: polling', async () => {
  const opened = serve(['hello', 'nodes'], [])
  expect((await follow(120_000)).at(-1)).toBe('polling')
  expect(opened).toHaveLength(3)
})

test('after five minutes of polling the stream is tried again', async () => {
  const opened = serve([], [])
  await follow(330_000)
  expect(opened.length).toBeGreaterThan(3)
})

test('a stream with ticks stays open', async () => {
  const opened = serve(['hello'], ['tick'])
  expect(await follow(600_000)).not.toContain('polling')
  expect(opened).toHaveLength(1)
})
