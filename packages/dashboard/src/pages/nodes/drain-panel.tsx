/** A drain under way: how many runs are left, until when, who asked, and the way back. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Node, NodeDetail } from '../../api/contract.ts'
import { useAct } from '../../api/use-act.ts'
import { useData } from '../../api/use-data.ts'
import { useNow } from '../../live/use-now.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { CliLine } from '../../parts/cli-line.tsx'
import { shellWord } from '@q/server/client'
import { Progress } from '../../parts/meter.tsx'
import { duration, relative } from '../../words/durations.ts'
import { several } from '../../words/numbers.ts'
import { clockTime } from '../../words/times.ts'
import { drainOutcome, timeLeft } from './drain-outcome.ts'

export function DrainPanel({ node }: { readonly node: Node }): ReactNode {
  const { data } = useData<NodeDetail>(`/nodes/${encodeURIComponent(node.id)}`, { everyMs: 1_000 })
  const { act, busy } = useAct()
  const now = useNow()
  const { drain } = node
  if (drain === null) return null
  const deadlineMs = drain.deadline === null ? null : Date.parse(drain.deadline) - now
  const undrain = () =>
    act({
      method: 'DELETE',
      path: `/nodes/${encodeURIComponent(node.id)}/drain`,
      done: () => `${node.name} claims runs again.`,
    })
  return (
    <div className="obj">
      <p>
        <b>{several(drain.runsLeft, 'run')} left</b>
        {drain.deadline === null ? ', no deadline' : `, deadline ${clockTime(new Date(drain.deadline))} `}
        {deadlineMs === null ? null : (
          <span className="warn">{deadlineMs > 0 ? `in ${duration(deadlineMs)}` : 'passed'}</span>
        )}
        .{' '}
        <span className="mute">
          Asked {drain.by === null ? '' : `by ${drain.by} `}
          {relative(now - Date.parse(drain.at))}.
          {drain.expectedEnd === null
            ? ''
            : ` Its last run is expected to end ${relative(now - Date.parse(drain.expectedEnd))}.`}
          {drain.leavingAt === null ? '' : ' It is leaving: the drain can no longer be undone.'}
        </span>
      </p>
      <div className="do">
        <CliLine command={`q undrain ${shellWord(node.name)}`} />
        <ActButton disabled={busy || drain.leavingAt !== null} onClick={() => void undrain()}>
          Undrain
        </ActButton>
      </div>
      {data === undefined || data.held.length === 0 ? null : (
        <ul className="left">
          {data.held.map((run) => {
            const { kind, words } = drainOutcome(run, deadlineMs, drain.onDeadline)
            return (
              <li key={run.id}>
                <Link className="id" href={`/runs/${run.id}`}>
                  {run.id}
                </Link>
                <span className="cut">{run.task}</span>
                <span>
                  <Progress value={run.progress} tone={kind === 'stopping' ? 'stopping' : 'running'}>
                    <span className="mute">{timeLeft(run)}</span>
                  </Progress>
                </span>
                <span className={kind === 'failed' || kind === 'likely' ? 'bad' : 'soft'}>{words}</span>
              </li>
            )
          })}
        </ul>
      )}
    </div>
  )
}
