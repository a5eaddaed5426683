/** An operation on many runs: how far it is, what became of them, and the way to stop it. */
import type { ReactNode } from 'react'
import type { Operation } from '../api/contract.ts'
import { useAct } from '../api/use-act.ts'
import { useData } from '../api/use-data.ts'
import { countLabel, several } from '../words/numbers.ts'
import { ActButton } from './act-button.tsx'
import { Badge } from './badge.tsx'
import { Card, Pending } from './card.tsx'
import { CliLine } from './cli-line.tsx'
import type { GlyphName } from './glyph.tsx'
import { Bar } from './meter.tsx'

interface Props {
  readonly id: string
  /** As many runs matched when it was asked for; undefined: that is not known exactly. */
  readonly of?: number | undefined
  readonly onClose: () => void
}

export function OperationBar({ id, of, onClose }: Props): ReactNode {
  const { data, error } = useData<Operation>(`/operations/${id}`, { topic: `operation:${id}`, everyMs: 1_000 })
  const { act, busy } = useAct()
  if (data === undefined)
    return (
      <Card label="Operation">
        <Pending error={error} rows={1} />
      </Card>
    )
  const isOpen = data.state === 'waiting' || data.state === 'running' || data.state === 'stopping'
  const stop = () =>
    act({ method: 'DELETE', path: `/operations/${id}`, done: () => 'The operation stops after its current step.' })
  return (
    <Card label="Operation">
      <div className="opbar" role="status">
        <span className="wrap">
          <OperationBadge operation={data} />
          <b>
            {verbOf(data.kind)} {several(data.changed, 'run')}
          </b>
          <span className="soft">
            looked at {countLabel(data.looked)}
            {answersOf(data)}
          </span>
          {data.lookedBackTo === null || !isOpen ? null : <span className="mute">down to run {data.lookedBackTo}</span>}
        </span>
        <span className="wrap">
          <span className="only-l">
            <CliLine command={isOpen ? `q operations stop ${id}` : `q operations ${id}`} />
          </span>
          {isOpen ? (
            <ActButton disabled={busy || data.state === 'stopping'} onClick={() => void stop()}>
              Stop
            </ActButton>
          ) : (
            <button type="button" className="btn ghost" onClick={onClose}>
              Close
            </button>
          )}
        </span>
        {of === undefined ? null : <Bar value={shareOf(data, of)} label="Progress of the operation" tone="running" />}
      </div>
    </Card>
  )
}

/** In percent. An operation may find fewer runs than matched before: when it is done, it is done with all. */
function shareOf({ state, answers }: Operation, of: number): number {
  if (state === 'done') return 100
  const acted = Object.values(answers).reduce((sum, runs) => sum + runs, 0)
  return Math.min(100, (100 * acted) / of)
}

const tones: Readonly<Record<Operation['state'], { readonly tone: string; readonly glyph: GlyphName }>> = {
  waiting: { tone: 'pending', glyph: 'pending' },
  running: { tone: 'running', glyph: 'running' },
  stopping: { tone: 'stopping', glyph: 'stopping' },
  stopped: { tone: 'stopped', glyph: 'stopped' },
  done: { tone: 'succeeded', glyph: 'succeeded' },
}

export function OperationBadge({ operation }: { readonly operation: Operation }): ReactNode {
  return <Badge {...tones[operation.state]}>{operation.state}</Badge>
}

export function verbOf(kind: Operation['kind']): string {
  return { retry: 'retried', cancel: 'cancelled', review: 'reviewed' }[kind]
}

export function answersOf({ answers }: Operation): string {
  const parts = Object.entries(answers).map(([answer, runs]) => `${countLabel(runs)} ${answer}`)
  return parts.length === 0 ? '' : `: ${parts.join(', ')}`
}
