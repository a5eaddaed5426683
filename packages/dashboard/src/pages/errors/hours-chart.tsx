/** How often an error was seen in each of the last 24 hours. */
import type { ReactNode } from 'react'
import type { ErrorGroup } from '../../api/contract.ts'
import { ChartCard } from '../../parts/chart/chart-card.tsx'
import { countLabel } from '../../words/numbers.ts'

export function HoursChart({ group }: { readonly group: ErrorGroup }): ReactNode {
  return (
    <ChartCard
      title="Last 24 hours"
      sub={<span className="only-l">by hour; the last one is unfinished</span>}
      times={group.hours.map(({ at }) => Date.parse(at))}
      panels={[
        {
          label: 'seen per hour',
          whole: true,
          height: 90,
          format: countLabel,
          series: [{ name: 'seen', look: 's-fail', values: group.hours.map(({ seen }) => seen) }],
        },
      ]}
      isLastPartial
      nothing="It was not seen in the last 24 hours."
    />
  )
}
