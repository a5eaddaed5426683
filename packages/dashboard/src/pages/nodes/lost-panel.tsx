/** A node that is gone: what it held, and what became of each run. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Node, NodeDetail, TaskState } from '../../api/contract.ts'
import type { RunSummaryPage, RunSummary } from '../../api/run-contract.ts'
import { useData } from '../../api/use-data.ts'
import { RunBadge } from '../../parts/badge.tsx'
import { Pending } from '../../parts/card.tsx'
import { CliLine } from '../../parts/cli-line.tsx'
import { shellWord } from '@q/server/client'
import { several } from '../../words/numbers.ts'
import { shortId } from '../../parts/node-name.tsx'

const shownMax = 20

export function LostPanel({ node }: { readonly node: Node }): ReactNode {
  const { data } = useData<NodeDetail>(`/nodes/${encodeURIComponent(node.id)}`)
  if (data === undefined) return <Pending error={null} rows={2} />
  const { recoveries } = data
  const by = [...new Set(recoveries.map(({ recoveredByName, recoveredBy }) => recoveredByName ?? recoveredBy))]
  return (
    <div className="obj">
      <p>
        {node.state === 'stopped' && recoveries.length === 0 ? (
          <>
            <b>It left cleanly</b> and left no run behind.
          </>
        ) : (
          <>
            <b>
              {recoveries.length === 0
                ? 'No run was recovered from it'
                : `${several(recoveries.length, 'run')} recovered`}
            </b>
            {by.length === 0 ? '' : ` by ${by.join(', ')}`}.
          </>
        )}{' '}
        <span className="mute">
          {several(node.completed, 'run')} finished and {node.failed} failed while it lived. {node.hostname}, pid{' '}
          {node.pid}.{data.held.length > 0 ? ` ${several(data.held.length, 'run')} still held.` : ''}
        </span>
      </p>
      <div className="do">
        <CliLine command={`q recoveries --node ${shellWord(shortId(node))}`} />
      </div>
      {recoveries.length === 0 ? null : <RecoveredRuns recoveries={recoveries.slice(0, shownMax)} />}
    </div>
  )
}

/** The state that each run has now: a recovered run may have ended on another node long ago. */
function RecoveredRuns({ recoveries }: { readonly recoveries: NodeDetail['recoveries'] }): ReactNode {
  const ids = [...new Set(recoveries.map(({ runId }) => runId))].join(',')
  const { data } = useData<RunSummaryPage>(`/runs?ids=${ids}`)
  const byId = new Map(data?.runs.map((run) => [run.id, run]))
  return (
    <ul className="left">
      {recoveries.map((recovery) => {
        const run = byId.get(recovery.runId)
        return (
          <li key={recovery.id}>
            <Link className="id" href={`/runs/${recovery.runId}`}>
              {recovery.runId}
            </Link>
            <span className="cut">{recovery.task}</span>
            <span>
              <RunBadge status={run?.status ?? (recovery.became as TaskState)} />
            </span>
            <span className="soft">
              {became(recovery, run)}
              {recovery.needsReview && recovery.reviewedAt === null ? (
                <>
                  {'. '}
                  <Link className="link" href="/recoveries?toReview=true">
                    Review
                  </Link>
                </>
              ) : null}
            </span>
          </li>
        )
      })}
    </ul>
  )
}

function became(recovery: NodeDetail['recoveries'][number], run: RunSummary | undefined): string {
  if (recovery.became === 'FAILED') return `${recovery.code ?? 'failed'}, was ${recovery.was}`
  const isAgain = run !== undefined && run.replicaName !== null && run.replicaId !== recovery.replicaId
  const again = isAgain ? `, ${run.finishedAt === null ? 'now on' : 'ended on'} ${run.replicaName}` : ''
  return `${recovery.was === 'CLAIMED' ? 'was CLAIMED, never started' : 'was RUNNING, requeued'}${again}`
}
