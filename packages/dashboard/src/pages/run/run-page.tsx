/** One run: its progress, what happened, why it waits, what it was given and what it returned, and what can be done. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, type ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import type { RunDetail } from '../../api/run-contract.ts'
import { useData } from '../../api/use-data.ts'
import { useKeys } from '../../app/keys.ts'
import { useRunTick } from '../../live/run-ticks.ts'
import { RunBadge } from '../../parts/badge.tsx'
import { Card, Head, Pending } from '../../parts/card.tsx'
import { Copy } from '../../parts/copy.tsx'
import { neighboursOf } from '../runs/remembered-list.ts'
import { ActionsCard } from './actions-card.tsx'
import { ErrorCard } from './error-card.tsx'
import { LogCard } from './log-card.tsx'
import { ProgressCard } from './progress-card.tsx'
import { RunFactList } from './run-facts.tsx'
import { TimelineCard } from './timeline-card.tsx'
import { ValueCards } from './value-cards.tsx'
import { WaterfallCard } from './waterfall-card.tsx'
import { WhyCard } from './why-card.tsx'

export function RunPage({ id }: { readonly id: string }): ReactNode {
  const { data, error } = useData<RunDetail>(`/runs/${id}`, { everyMs: 3_000 })
  if (data === undefined)
    return (
      <>
        <Head title={`Run ${id}`} />
        <Card label="Run">
          <Pending error={error} rows={8} />
        </Card>
      </>
    )
  return <Loaded detail={data} />
}

function Loaded({ detail }: { readonly detail: RunDetail }): ReactNode {
  const { run } = detail
  useFreshDetail(detail)
  useEffect(() => {
    document.getElementById(location.hash.slice(1))?.scrollIntoView()
  }, [])
  const names = new Map(detail.attempts.map(({ replicaId, replicaName }) => [replicaId, replicaName ?? replicaId]))
  if (run.replicaId !== null && detail.replicaName !== null) names.set(run.replicaId, detail.replicaName)
  const nameOf = (id: string) => names.get(id) ?? id
  const jump = (anchor: string) => () => document.getElementById(anchor)?.scrollIntoView({ block: 'start' })
  useKeys({ w: jump('why'), l: jump('logs') })
  return (
    <>
      <Head
        title={run.task}
        className="run"
        before={<RunBadge status={run.status} stopping={run.cancelRequestedAt !== null} big />}
      >
        <span className="idl">
          <span className="id mute">{run.id}</span>
          <Copy text={run.id} label="Copy the run id" />
        </span>
        <Neighbours id={run.id} />
      </Head>
      <div className="cols">
        <div className="stack">
          <ProgressCard detail={detail} nameOf={nameOf} />
          <ErrorCard detail={detail} />
          <WaterfallCard detail={detail} />
          <TimelineCard detail={detail} nameOf={nameOf} />
          <LogCard id={run.id} attempts={detail.attempts} ended={run.finishedAt !== null} />
        </div>
        <aside className="stack">
          <ActionsCard detail={detail} />
          <WhyCard detail={detail} />
          <RunFactList detail={detail} />
          <ValueCards detail={detail} />
        </aside>
      </div>
    </>
  )
}

/** A tick that shows another state, claim or holder than the detail asks for the detail again. */
function useFreshDetail({ run }: RunDetail): void {
  const tick = useRunTick(run.id)
  const cache = useQueryClient()
  const isOld =
    tick !== undefined &&
    tick.fence >= run.fence &&
    (tick.status !== run.status || tick.fence !== run.fence || tick.attempt !== run.attempt)
  useEffect(() => {
    if (isOld) void cache.invalidateQueries({ queryKey: [`/runs/${run.id}`] })
  }, [isOld, tick?.status, tick?.fence, cache, run.id])
}

function Neighbours({ id }: { readonly id: string }): ReactNode {
  const { previous, next } = neighboursOf(id)
  const [, navigate] = useLocation()
  useKeys({
    j: () => next !== undefined && navigate(`/runs/${next}`),
    k: () => previous !== undefined && navigate(`/runs/${previous}`),
  })
  if (previous === undefined && next === undefined) return null
  const link = (to: string | undefined, word: string, key: string) =>
    to === undefined ? null : (
      <Link className="btn ghost" href={`/runs/${to}`}>
        {word} <kbd>{key}</kbd>
      </Link>
    )
  return (
    <div className="acts">
      {link(previous, 'Previous', 'k')}
      {link(next, 'Next', 'j')}
    </div>
  )
}
