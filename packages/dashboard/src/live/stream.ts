/**
 * The one stream of events of this browser. It reads `fetch` instead of EventSource, because a request needs the proof in a header.
 *
 * Two silent deaths are noticed: a stream that stops delivering (no byte for 25 s), and a proxy that buffers (opened, but no first
 * frame within 5 s). A proxy may also deliver the first frames and hold back the others. The server sends a tick every 10 s, so
 * after three streams without one the page polls, and tries the stream again after five minutes.
 */
import { headers } from '../api/request.ts'
import { connection, type Mode } from './connection.ts'
import { createSseParser, type RawFrame } from './sse-parser.ts'

const firstFrameMs = 5_000
const silenceMs = 25_000
const mutesMax = 3
const pollingMs = 300_000
const backOffMs = { first: 500, max: 30_000 }

export interface StreamHandlers {
  readonly onFrame: (frame: RawFrame) => void
  readonly onMode: (mode: Mode) => void
}

/** Runs until the signal is aborted. */
export async function runStream(path: string, { onFrame, onMode }: StreamHandlers, signal: AbortSignal): Promise<void> {
  let [mutes, failures] = [0, 0]
  while (!signal.aborted) {
    const end = await readOnce(
      path,
      (frame) => {
        if (connection.get().mode !== 'live') onMode('live')
        failures = 0
        if (frame.event === 'tick') mutes = 0
        onFrame(frame)
      },
      signal,
    )
    if (signal.aborted) return
    if (end === 'bye') continue
    if (end === 'mute' || end === 'silent') mutes += 1
    else failures += 1
    onMode(mutes >= mutesMax ? 'polling' : 'connecting')
    if (mutes >= mutesMax) {
      mutes = 0
      await pause(pollingMs, signal)
    } else await pause(Math.min(backOffMs.max, backOffMs.first * 2 ** failures) * (0.5 + Math.random() / 2), signal)
  }
}

type End = 'mute' | 'silent' | 'closed' | 'bye'

async function readOnce(path: string, onFrame: (frame: RawFrame) => void, signal: AbortSignal): Promise<End> {
  const own = new AbortController()
  const stop = () => own.abort()
  signal.addEventListener('abort', stop, { once: true })
  let end: End = 'mute'
  let watchdog = setTimeout(stop, firstFrameMs)
  const received = () => {
    clearTimeout(watchdog)
    watchdog = setTimeout(stop, silenceMs)
  }
  try {
    const response = await fetch(`/api${path}`, { headers: headers(), credentials: 'same-origin', signal: own.signal })
    if (response.status === 401) connection.signedOut()
    if (!response.ok || response.body === null) return 'closed'
    const parser = createSseParser()
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      for (const frame of parser.push(piece.value)) {
        if (frame.event === 'bye') return 'bye'
        end = 'silent'
        onFrame(frame)
      }
      if (end !== 'mute') received()
    }
    return end === 'mute' ? 'mute' : 'closed'
  } catch {
    return own.signal.aborted ? end : 'closed'
  } finally {
    clearTimeout(watchdog)
    signal.removeEventListener('abort', stop)
    own.abort()
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
}
