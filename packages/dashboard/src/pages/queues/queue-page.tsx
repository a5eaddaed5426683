/** One queue: wait and oldest age on one axis, its tasks, groups and contended keys, and its pause. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { QueueDetail } from '../../api/contract.ts'
import { useData } from '../../api/use-data.ts'
import { Card, FigureLine, Head, Pending } from '../../parts/card.tsx'
import { TimeRangeChoice, useTimeRange } from '../../parts/chart/time-range.tsx'
import { Outlook, QueueState } from '../../parts/queue-state.tsx'
import { duration } from '../../words/durations.ts'
import { boundedLabel, countLabel, rate } from '../../words/numbers.ts'
import { ThroughputCard } from '../overview/throughput-card.tsx'
import { PauseButton } from './pause-button.tsx'
import { GroupsCard, KeysCard, TasksCard } from './queue-parts.tsx'
import { BacklogCard, WaitCard } from './wait-card.tsx'

export function QueuePage({ name }: { readonly name: string }): ReactNode {
  const range = useTimeRange()
  const { data, error } = useData<QueueDetail>(`/queues/${encodeURIComponent(name)}`, { everyMs: 2_000 })
  if (data === undefined)
    return (
      <>
        <Head title={name} />
        <Card label="Queue">
          <Pending error={error} rows={6} />
        </Card>
      </>
    )
  return (
    <>
      <Head title={name}>
        <QueueState queue={data} />
        <FigureLine
          of={[
            { name: 'oldest ready', value: data.oldestReadyMs === null ? '–' : duration(data.oldestReadyMs) },
            { name: 'ready', value: boundedLabel(data.ready) },
            { name: 'running', value: countLabel(data.running + data.claimed) },
            { name: 'done/s', value: rate(data.rates?.succeededPerS) },
          ]}
        />
        <div className="acts">
          <TimeRangeChoice />
        </div>
      </Head>
      <div className="cols">
        <div className="stack">
          <WaitCard queue={name} range={range} />
          <BacklogCard queue={name} range={range} />
          <ThroughputCard queue={name} range={range} />
          <KeysCard keys={data.keys} />
        </div>
        <aside className="stack">
          <PauseButton queue={data} />
          <StateCard queue={data} />
          <TasksCard queue={data} />
          <GroupsCard queue={data} />
        </aside>
      </div>
    </>
  )
}

function StateCard({ queue }: { readonly queue: QueueDetail }): ReactNode {
  const { waiting, rates } = queue
  const name = encodeURIComponent(queue.queue)
  return (
    <Card
      title="Queue"
      end={
        <Link className="btn ghost" href={`/runs?queue=${name}`}>
          Its runs
        </Link>
      }
    >
      <dl className="facts pad">
        <dt>Outlook</dt>
        <dd>
          <Outlook queue={queue} />
        </dd>
        <dt>Wait</dt>
        <dd>
          <Percentiles p50={rates?.waitP50Ms ?? null} p95={rates?.waitP95Ms ?? null} />
        </dd>
        <dt>Duration</dt>
        <dd>
          <Percentiles p50={rates?.durationP50Ms ?? null} p95={rates?.durationP95Ms ?? null} />
        </dd>
        <dt>Started/s</dt>
        <dd>
          {rate(rates?.startedPerS)}{' '}
          {rates === null ? null : (
            <span className="mute">
              {rate(rates.retriedPerS)} retried, {rate(rates.failedPerS)} failed
            </span>
          )}
        </dd>
        <dt>Held back</dt>
        <dd>{heldBack(waiting)}</dd>
      </dl>
    </Card>
  )
}

function Percentiles({ p50, p95 }: { readonly p50: number | null; readonly p95: number | null }): ReactNode {
  if (p50 === null || p95 === null) return '–'
  return (
    <>
      {duration(p50)} <span className="mute">p95 {duration(p95)}</span>
    </>
  )
}

/** The runs that cannot start yet, by what they wait for. */
function heldBack({ time, concurrency, parents, task }: QueueDetail['waiting']): string {
  const waits = [
    [time, 'due later'],
    [concurrency, 'for a key'],
    [parents, 'for parents'],
    [task, 'until their task is published'],
  ] as const
  const some = waits.filter(([runs]) => runs.count > 0)
  return some.map(([runs, words]) => `${boundedLabel(runs)} ${words}`).join(', ') || 'none'
}
