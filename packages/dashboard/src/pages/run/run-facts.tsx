/** The facts of a run and what it is connected with. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Items, Node } from '../../api/contract.ts'
import type { RunDetail } from '../../api/run-contract.ts'
import { useData } from '../../api/use-data.ts'
import { allNodes } from '../../live/apply-frames.ts'
import { growing } from '../../live/received.ts'
import { useNow } from '../../live/use-now.ts'
import { Card } from '../../parts/card.tsx'
import { BeatAge } from '../../parts/meter.tsx'
import { At } from '../../parts/time.tsx'
import { duration, relative } from '../../words/durations.ts'

export function RunFactList({ detail }: { readonly detail: RunDetail }): ReactNode {
  const { run } = detail
  const now = useNow()
  const isHeld = run.replicaId !== null && run.finishedAt === null
  return (
    <Card title="Run">
      <dl className="facts pad">
        <Fact name="Queue">
          <Link href={`/queues/${encodeURIComponent(run.queue)}`}>{run.queue}</Link>
        </Fact>
        <Fact name="Group" shown={run.group !== ''}>
          <Link href={`/runs?group=${encodeURIComponent(run.group)}`}>{run.group}</Link>
        </Fact>
        <Fact name={isHeld ? 'Holder' : 'Last holder'} shown={run.replicaId !== null}>
          <Link href={`/nodes/${encodeURIComponent(run.replicaId ?? '')}`}>{detail.replicaName ?? run.replicaId}</Link>
        </Fact>
        <Fact name="Lease" shown={run.fence > 0}>
          fence {run.fence}
          {run.epoch > 1 ? `, epoch ${run.epoch}` : ''}
        </Fact>
        <Fact name="Beat age" shown={isHeld}>
          <RunBeat detail={detail} />
        </Fact>
        <Fact name="Enqueued">
          <At at={run.createdAt} /> <span className="mute">{relative(now - Date.parse(run.createdAt))}</span>
        </Fact>
        <Fact name={run.status === 'AVAILABLE' ? 'Ready for' : 'Waited'}>{lengthOf(detail.waitMs)}</Fact>
        <Fact name={run.finishedAt === null ? 'Running for' : 'Took'}>{lengthOf(detail.durationMs)}</Fact>
        <Fact name="Finished">{run.finishedAt === null ? null : <At at={run.finishedAt} />}</Fact>
        <Fact name="Expires">{run.expiresAt === null ? null : <At at={run.expiresAt} />}</Fact>
        <Fact name="Priority" shown={run.priority !== 0}>
          {run.priority}
        </Fact>
        <Fact name="Attempts">
          {run.crashCount === 0 ? `${run.attempt} of ${run.maxAttempts}` : `${run.attempt}, ${run.crashCount} lost`}
        </Fact>
        <Fact name="On crash" shown={run.onCrash !== null}>
          {run.onCrash}
        </Fact>
        <Fact name="Timeout" shown={run.timeoutMs !== null}>
          <Timeout detail={detail} now={now} />
        </Fact>
        <Fact name="Max silence">{lengthOf(run.maxSilentMs)}</Fact>
        <Fact name="Requires" shown={run.requires.length > 0}>
          {run.requires.join(', ')}
        </Fact>
        <Connections detail={detail} />
      </dl>
    </Card>
  )
}

/** Other things that the run belongs to. */
function Connections({ detail }: { readonly detail: RunDetail }): ReactNode {
  const { run, scheduleTick, parent, again, children } = detail
  return (
    <>
      <Fact name="Unique key" shown={run.uniqueKey !== null}>
        <span className="mono">{run.uniqueKey}</span>
      </Fact>
      <Fact name="Key" shown={run.concurrency !== null}>
        <span className="mono">
          {run.concurrency?.key} <span className="mute">{run.concurrency?.scope}</span>
        </span>
      </Fact>
      <Fact name="Workflow" shown={run.workflowId !== null}>
        <Link className="link" href={`/workflows/${run.workflowId}`}>
          {run.workflowId}
        </Link>
      </Fact>
      <Fact name="Schedule">
        {scheduleTick === null ? null : (
          <Link className="link" href={`/schedules/${encodeURIComponent(scheduleTick.schedule)}`}>
            {scheduleTick.schedule}
          </Link>
        )}
      </Fact>
      <Fact name="Enqueued by">{parent === null ? null : <RunLink id={parent.runId} task={parent.task} />}</Fact>
      <Fact name="Again of">{again.of === null ? null : <RunLink id={again.of} task="" />}</Fact>
      <Fact name="Children" shown={children.length > 0}>
        {children.slice(0, childrenMax).map(({ runId, task }) => (
          <div key={runId}>
            <RunLink id={runId} task={task} />
          </div>
        ))}
        {children.length > childrenMax ? <span className="mute">and {children.length - childrenMax} more</span> : null}
      </Fact>
      <Fact name="Trace" shown={run.trace !== null}>
        <span className="mono">{run.trace}</span>
      </Fact>
    </>
  )
}

const childrenMax = 20

function lengthOf(ms: number | null): string | null {
  return ms === null ? null : duration(ms)
}

/** One fact; not drawn where there is nothing to say. */
function Fact(props: { readonly name: string; readonly shown?: boolean; readonly children: ReactNode }): ReactNode {
  const { name, shown = true, children } = props
  if (!shown || children === null) return null
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}

function RunLink({ id, task }: { readonly id: string; readonly task: string }): ReactNode {
  return (
    <Link className="link" href={`/runs/${id}`}>
      <span className="id">{id}</span> {task}
    </Link>
  )
}

function Timeout({ detail, now }: { readonly detail: RunDetail; readonly now: number }): ReactNode {
  const { timeoutMs, startedAt, status } = detail.run
  if (timeoutMs === null) return null
  const left = startedAt === null || status !== 'RUNNING' ? null : Date.parse(startedAt) + timeoutMs - now
  return (
    <>
      {duration(timeoutMs)}{' '}
      {left === null ? null : <span className="mute">{left > 0 ? `${duration(left)} left` : 'passed'}</span>}
    </>
  )
}

/** The last sign of the run against the threshold that its holder registered. */
function RunBeat({ detail }: { readonly detail: RunDetail }): ReactNode {
  const now = useNow()
  const nodes = useData<Items<Node>>(allNodes, { topic: 'nodes' }).data?.items
  const sign = detail.beats.at(-1)
  const holder = nodes?.find(({ id }) => id === detail.run.replicaId)
  if (sign === undefined || detail.run.finishedAt !== null) return <span className="mute">–</span>
  const age = growing(sign, sign.ageMs, now)
  if (holder === undefined) return duration(age)
  return (
    <BeatAge
      ageMs={age}
      staleMs={sign.role === 'runner' ? holder.thresholds.runnerStaleMs : holder.thresholds.claimerStaleMs}
    />
  )
}
