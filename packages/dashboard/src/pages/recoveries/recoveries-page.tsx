/**
 * Recoveries of runs from nodes that died. A run that was running and may not be started again by itself waits here for a
 * person, who retries it or accepts that it failed. Any other recovery can be marked as reviewed too.
 */
import { useState, type ReactNode } from 'react'
import { useSearch } from 'wouter'
import type { Overview, RecoveryView } from '../../api/contract.ts'
import { useData } from '../../api/use-data.ts'
import { usePages } from '../../api/use-pages.ts'
import { Empty, Head } from '../../parts/card.tsx'
import { ListCard } from '../../parts/list-card.tsx'
import { RecoveriesTable } from '../../parts/recoveries-table.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { boundedLabel } from '../../words/numbers.ts'
import { ReviewBar } from './review-bar.tsx'

export function RecoveriesPage(): ReactNode {
  const search = useSearch()
  const isReview = search.includes('toReview=true')
  const list = usePages<RecoveryView>(`/recoveries?${search}${search === '' ? '' : '&'}limit=50`)
  const overview = useData<Overview>('/overview', { topic: 'overview' }).data
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const waiting = list.items.filter(({ needsReview }) => needsReview)
  const chosen = list.items.filter(({ id, reviewedAt }) => reviewedAt === null && selected.has(id))
  const toggle = (id: string) =>
    setSelected(new Set(selected.has(id) ? [...selected].filter((other) => other !== id) : [...selected, id]))
  const tabs = [
    { query: '', label: 'History' },
    {
      query: 'toReview=true',
      label: 'To review',
      count: overview === undefined || overview.toReview.count === 0 ? null : boundedLabel(overview.toReview),
    },
  ]
  const empty = isReview ? (
    <Empty title="There is nothing to review">
      <p>Runs that were running when their node died, and whose task says onCrash: fail, wait here for a person.</p>
    </Empty>
  ) : (
    <Empty title="No run was recovered">
      <p>When a node dies, others take its runs. Each takeover is listed here with its cause.</p>
    </Empty>
  )
  return (
    <>
      <Head title="Recoveries" />
      <Tabs label="Recoveries" path="/recoveries" tabs={tabs} />
      <ListCard
        label="Recoveries"
        list={list}
        empty={empty}
        above={
          chosen.length + waiting.length === 0 ? null : (
            <ReviewBar
              chosen={chosen.length > 0 ? chosen : waiting}
              isAll={chosen.length === 0}
              onDone={() => setSelected(new Set())}
            />
          )
        }
      >
        {(recoveries) => <RecoveriesTable recoveries={recoveries} selected={selected} onSelect={toggle} />}
      </ListCard>
    </>
  )
}
