/** Converts a filter of runs to stored data and back. Times are ISO text, states are written by name. Pure. */
import type { RunFilter } from '../reads/runs/run-filter.ts'
import { statesNamed } from '../reads/runs/status-names.ts'

export type StoredFilter = {
  readonly [Member in keyof RunFilter]: RunFilter[Member] extends Date | undefined ? string : RunFilter[Member]
}

const times = ['createdAfter', 'createdBefore', 'endedAfter', 'endedBefore'] as const

export function storedFilter(filter: RunFilter): StoredFilter {
  const { status } = filter
  const ends = times.flatMap((name) => {
    const time = filter[name]
    return time === undefined ? [] : [[name, time.toISOString()] as const]
  })
  return {
    ...filter,
    ...(status === undefined ? {} : { status: statesNamed(status) }),
    ...Object.fromEntries(ends),
  } as unknown as StoredFilter
}

export function filterOf(stored: StoredFilter): RunFilter {
  const members = Object.entries(stored).map(([name, value]: [string, unknown]) =>
    times.some((time) => time === name) ? [name, new Date(String(value))] : [name, value],
  )
  return Object.fromEntries(members) as RunFilter
}
