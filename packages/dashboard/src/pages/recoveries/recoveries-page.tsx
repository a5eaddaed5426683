/**
 * Runs that were taken from nodes that died. Those that were running and may not be started again by themselves wait here for a
 * person: retry them, or accept that they failed.
 */
import { useState, type ReactNode } from 'react'
import { useSearch } from 'wouter'
import type { Overview, Recovery } from '../../api/contract.ts'
import { ApiProblem } from '../../api/problem.ts'
import { request } from '../../api/request.ts'
import { useAct } from '../../api/use-act.ts'
import { useData } from '../../api/use-data.ts'
import { usePages } from '../../api/use-pages.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { Empty, Head } from '../../parts/card.tsx'
import { CliLine } from '../../parts/cli-line.tsx'
import { ListCard } from '../../parts/list-card.tsx'
import { RecoveriesTable } from '../../parts/recoveries-table.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { say } from '../../parts/toasts.tsx'
import { bounded, several } from '../../words/numbers.ts'

export function RecoveriesPage(): ReactNode {
  const search = useSearch()
  const isReview = search.includes('toReview=true')
  const list = usePages<Recovery>(`/recoveries?${search}${search === '' ? '' : '&'}limit=50`)
  const overview = useData<Overview>('/overview', { topic: 'overview' }).data
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const open = list.items.filter(({ needsReview, reviewedAt }) => needsReview && reviewedAt === null)
  const chosen = open.filter(({ id }) => selected.has(id))
  const toggle = (id: string) =>
    setSelected(new Set(selected.has(id) ? [...selected].filter((other) => other !== id) : [...selected, id]))
  const tabs = [
    { query: '', label: 'History' },
    {
      query: 'toReview=true',
      label: 'To review',
      count: overview === undefined || overview.toReview.count === 0 ? null : bounded(overview.toReview),
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
          open.length === 0 ? null : (
            <ReviewBar
              chosen={chosen.length > 0 ? chosen : open}
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

interface BarProps {
  readonly chosen: readonly Recovery[]
  readonly isAll: boolean
  readonly onDone: () => void
}

function ReviewBar({ chosen, isAll, onDone }: BarProps): ReactNode {
  const { act, busy } = useAct()
  const [isRetrying, setRetrying] = useState(false)
  const ids = chosen.map(({ id }) => id)
  const runs = [...new Set(chosen.map(({ runId }) => runId))]
  async function accept(): Promise<void> {
    await act<{ reviewed: number }>({
      method: 'POST',
      path: '/recoveries/review',
      body: { ids },
      done: ({ reviewed }) => `${several(reviewed, 'recovery', 'recoveries')} reviewed.`,
    })
    onDone()
  }
  async function retry(): Promise<void> {
    setRetrying(true)
    const refusals: string[] = []
    for (const id of runs)
      await request('POST', `/runs/${id}/retry`).catch((error: unknown) =>
        refusals.push(`${id}: ${error instanceof ApiProblem ? error.title : String(error)}`),
      )
    if (refusals.length > 0)
      say(`${several(refusals.length, 'run')} could not be retried.`, {
        good: false,
        why: refusals.slice(0, 3).join(' '),
      })
    setRetrying(false)
    await accept()
  }
  return (
    <div className="bulk" role="region" aria-label="Review">
      <b>
        {several(chosen.length, 'run')} {isAll ? 'to review' : 'selected'}
      </b>
      <span className="mute only-l">running when its node died, onCrash fail</span>
      <span className="grow only-l" />
      <CliLine command={`q review retry ${runs.slice(0, 3).join(' ')}${runs.length > 3 ? ' …' : ''}`} />
      <ActButton disabled={busy || isRetrying} onClick={() => void accept()}>
        Accept {several(chosen.length, 'failure')}
      </ActButton>
      <ActButton look="pri" disabled={busy || isRetrying} onClick={() => void retry()}>
        Retry {several(runs.length, 'run')}
      </ActButton>
    </div>
  )
}
