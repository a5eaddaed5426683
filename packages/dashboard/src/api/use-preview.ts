/**
 * How many runs an operation would change now: the server's dry run of it, which also matches the values that lists hide. Each
 * count is an action that the audit records, so it is made once, and again only on request.
 */
import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { useRefusal } from '../app/may.ts'
import type { OperationKind, OperationPreview } from './contract.ts'
import type { RequestProblem } from './problem.ts'
import { request } from './request.ts'

export interface Preview {
  /** Undefined while the runs are being counted. */
  readonly match: OperationPreview['match'] | undefined
  readonly problem: RequestProblem | undefined
  readonly countAgain: () => void
}

type Filter = Readonly<Record<string, string | readonly string[]>>

export function usePreview(kind: OperationKind, filter: Filter, enabled = true): Preview {
  const id = useId()
  const mayAct = useRefusal('admin') === undefined
  const { data, error, isFetching, refetch } = useQuery<OperationPreview, RequestProblem>({
    queryKey: ['preview', id, kind, filter],
    queryFn: ({ signal }) => request('POST', '/operations', { body: { kind, filter, dryRun: true }, signal }),
    enabled: enabled && mayAct,
    staleTime: 'static',
    gcTime: 0,
  })
  return {
    match: isFetching ? undefined : data?.match,
    problem: isFetching ? undefined : (error ?? undefined),
    countAgain: () => void refetch(),
  }
}
