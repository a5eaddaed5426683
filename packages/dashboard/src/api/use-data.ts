/**
 * Reads a path of the API and keeps it fresh: by frames of the stream where it has a topic, else by asking again. Old data stays
 * while new data comes, and stays, marked as old, when none comes.
 */
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query'
import { useEffect } from 'react'
import { type ConnectionState, useConnectionPart } from '../live/connection.ts'
import { wantTopic } from '../live/live.ts'
import type { Topic } from '../live/topics.ts'
import type { RequestProblem } from './problem.ts'
import { request } from './request.ts'

interface Options {
  readonly topic?: Topic
  /** How often it is asked for when no frame renews it. */
  readonly everyMs?: number
  readonly enabled?: boolean
  /** Keep the answer of the last path while the one of another path comes. */
  readonly keep?: boolean
  /** Reads it otherwise than by one request. */
  readonly read?: (signal: AbortSignal) => Promise<unknown>
}

const pollMs = 5_000
const probeMs = 2_000

export function useData<T>(path: string, options: Options = {}): UseQueryResult<T, RequestProblem> {
  const { topic, everyMs = pollMs, enabled = true, keep = false, read } = options
  const state = {
    mode: useConnectionPart('mode'),
    frozenAt: useConnectionPart('frozenAt'),
    away: useConnectionPart('away'),
  }
  const interval = refetchInterval(state, topic !== undefined, everyMs)
  useEffect(() => (topic === undefined || !enabled ? undefined : wantTopic(topic)), [topic, enabled])
  return useQuery<T, RequestProblem>({
    queryKey: [path],
    queryFn: ({ signal }) => (read === undefined ? request<T>('GET', path, { signal }) : (read(signal) as Promise<T>)),
    enabled,
    refetchInterval: interval,
    ...(keep ? { placeholderData: keepPreviousData } : {}),
  })
}

type Shown = Pick<ConnectionState, 'mode' | 'frozenAt' | 'away'>

function refetchInterval(state: Shown, hasTopic: boolean, everyMs: number): number | false {
  if (state.frozenAt !== null) return false
  if (state.away !== null) return probeMs
  if (state.mode === 'live') return hasTopic ? false : everyMs
  return Math.max(pollMs, everyMs)
}
