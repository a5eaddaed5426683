/**
 * The log of a run: read from the beginning, then followed by frames of the stream, and by asking where frames are missing. Lines have
 * a place (claim, number), so nothing is shown twice.
 */
import { useEffect, useRef, useState } from 'react'
import { request } from '../../api/request.ts'
import type { LogLine, LogPage } from '../../api/run-contract.ts'
import { connection } from '../../live/connection.ts'
import { onFrame, wantTopic } from '../../live/live.ts'

const pageLines = 1_000
/** More than this is not kept in the browser; the command line has it all. */
const linesMax = 20_000
const askEveryMs = 2_000

export interface Log {
  readonly lines: readonly LogLine[]
  readonly isLoaded: boolean
  readonly isCut: boolean
}

export function useLogs(id: string, isFollowed: boolean): Log {
  const [log, setLog] = useState<Log>({ lines: [], isLoaded: false, isCut: false })
  const lines = useRef<LogLine[]>([])
  useEffect(() => {
    const stopped = new AbortController()
    let isReading = false
    const read = async () => {
      if (isReading || connection.get().frozenAt !== null || lines.current.length >= linesMax) return
      isReading = true
      try {
        for (let more = true; more && lines.current.length < linesMax;) {
          const last = lines.current.at(-1)
          const after = last === undefined ? '' : `&after=${last.fence}.${last.lineNo}`
          const page = await request<LogPage>('GET', `/runs/${id}/logs?limit=${pageLines}${after}`, {
            signal: stopped.signal,
          })
          if (stopped.signal.aborted) return
          lines.current = [...lines.current, ...page.lines]
          more = page.next != null
          setLog({ lines: lines.current, isLoaded: true, isCut: lines.current.length >= linesMax })
        }
      } catch {
        // The banner says it; the next look tries again.
      } finally {
        isReading = false
      }
    }
    void read()
    if (!isFollowed) return () => stopped.abort()
    const unwant = wantTopic(`log:${id}`)
    const unlisten = onFrame(({ event, data }) => {
      if (event === 'log' && (data as { runId: string }).runId === id) void read()
    })
    const timer = setInterval(() => connection.get().mode !== 'live' && void read(), askEveryMs)
    return () => {
      stopped.abort()
      unwant()
      unlisten()
      clearInterval(timer)
    }
  }, [id, isFollowed])
  return log
}
