/**
 * The log of a run: read from the beginning, then followed by frames of the stream, and by asking where frames are missing. Lines have
 * a place (claim, number), so nothing is shown twice.
 */
import { useEffect, useRef, useState } from 'react'
import { request } from '../../api/request.ts'
import type { LoggedLine, LogPage } from '../../api/run-contract.ts'
import { connection } from '../../live/connection.ts'
import { onFrame, wantTopic } from '../../live/live.ts'

const pageLines = 1_000
/** Only the newest lines are kept in the browser; the HTTP API has all. */
const linesMax = 20_000
/** The most pages that one look reads; the next look goes on there. */
const pagesMax = 200
const askEveryMs = 2_000

export interface Log {
  readonly lines: readonly LoggedLine[]
  readonly isLoaded: boolean
  /** Whether older lines were dropped. */
  readonly isCut: boolean
}

export function useLogs(id: string, isFollowed: boolean): Log {
  const [log, setLog] = useState<Log>({ lines: [], isLoaded: false, isCut: false })
  const lines = useRef<LoggedLine[]>([])
  useEffect(() => {
    const stopped = new AbortController()
    let isReading = false
    let isCut = false
    const read = async () => {
      if (isReading || connection.get().frozenAt !== null) return
      isReading = true
      try {
        for (let more = true, pages = 0; more && pages < pagesMax; pages++) {
          const last = lines.current.at(-1)
          const after = last === undefined ? '' : `&after=${last.fence}.${last.lineNo}`
          const page = await request<LogPage>('GET', `/runs/${id}/logs?limit=${pageLines}${after}`, {
            signal: stopped.signal,
          })
          if (stopped.signal.aborted) return
          const all = [...lines.current, ...page.lines]
          lines.current = all.slice(-linesMax)
          isCut ||= all.length > linesMax
          more = page.next != null
          setLog({ lines: lines.current, isLoaded: true, isCut })
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
