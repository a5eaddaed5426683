/** The time that the charts of a page show. It is part of the address, so that a link shows the same. */
import type { ReactNode } from 'react'
import { useSearchParams } from 'wouter'
import { Segments } from '../segments.tsx'

export interface TimeRange {
  readonly value: string
  readonly label: string
  readonly lastMs: number
  readonly points: number
  readonly words: string
}

const hour = 3_600_000

const ranges = [
  { value: '1h', label: '1 h', lastMs: hour, points: 60, words: 'last hour' },
  { value: '6h', label: '6 h', lastMs: 6 * hour, points: 72, words: 'last 6 hours' },
  { value: '24h', label: '24 h', lastMs: 24 * hour, points: 96, words: 'last 24 hours' },
] as const satisfies readonly TimeRange[]

export const lastHour: TimeRange = ranges[0]

const name = 'last'

export function useTimeRange(): TimeRange {
  const [search] = useSearchParams()
  return ranges.find(({ value }) => value === search.get(name)) ?? lastHour
}

export function TimeRangeChoice(): ReactNode {
  const [, setSearch] = useSearchParams()
  const { value } = useTimeRange()
  const choose = (next: string) =>
    setSearch(
      (search) => {
        const changed = new URLSearchParams(search)
        if (next === lastHour.value) changed.delete(name)
        else changed.set(name, next)
        return changed
      },
      { replace: true },
    )
  return <Segments legend="Time" hideLegend options={ranges} value={value} onChange={choose} />
}
