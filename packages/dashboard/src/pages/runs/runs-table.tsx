/** Runs as rows; two lines each on a phone. */
import { memo, useEffect, useRef, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { RunSummary } from '../../api/run-contract.ts'
import { useNow } from '../../live/use-now.ts'
import { RunBadge } from '../../parts/badge.tsx'
import { RunOutcome } from '../../parts/run-outcome.tsx'
import { Body, Table, Td, Th, Tr } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { duration } from '../../words/durations.ts'
import type { Selection } from './use-run-selection.ts'

interface Props {
  readonly runs: readonly RunSummary[]
  /** Without it, rows cannot be selected. */
  readonly choosing?: Choosing
  readonly cursor?: number
  /** The list is in the order of the ends of the runs, so the last column says when each ended. */
  readonly byEnd?: boolean
  /** Beside other cards: without the columns that say the least. */
  readonly isShort?: boolean
}

interface Choosing {
  readonly selection: Selection
  readonly canAll: boolean
  readonly onSelect: (index: number, isRange: boolean) => void
  readonly onAll: () => void
}

export function RunsTable({ runs, choosing, cursor = -1, byEnd = false, isShort = false }: Props): ReactNode {
  const selection = choosing?.selection ?? new Set<string>()
  const head = (
    <>
      {choosing === undefined ? null : (
        <Th>
          <input
            type="checkbox"
            aria-label="Select all that match"
            checked={selection === 'all'}
            disabled={!choosing.canAll}
            onChange={choosing.onAll}
          />
        </Th>
      )}
      <Th>State</Th>
      <Th>Run</Th>
      <Th>Task</Th>
      <Th>Progress, outcome</Th>
      <Th>Node</Th>
      <Th className="num hide-m less">Attempt</Th>
      <Th className="num hide-m less">Waited</Th>
      <Th className="num">Took</Th>
      <Th className="num">{byEnd ? 'Ended' : 'Enqueued'}</Th>
    </>
  )
  return (
    <Table
      label="Runs"
      className={`t-r ${isShort ? 'short' : 'sticky'}${choosing === undefined ? '' : ' picks'}`}
      head={head}
    >
      <Body>
        {runs.map((run, index) => (
          <Row
            key={run.id}
            run={run}
            isSelected={selection === 'all' || selection.has(run.id)}
            isCurrent={index === cursor}
            byEnd={byEnd}
            {...(choosing === undefined ? {} : { onSelect: (isRange: boolean) => choosing.onSelect(index, isRange) })}
          />
        ))}
      </Body>
    </Table>
  )
}

interface RowProps {
  readonly run: RunSummary
  readonly isSelected: boolean
  readonly isCurrent: boolean
  readonly byEnd: boolean
  readonly onSelect?: (isRange: boolean) => void
}

const Row = memo(function Row({ run, isSelected, isCurrent, byEnd, onSelect }: RowProps): ReactNode {
  const ref = useRef<HTMLTableRowElement>(null)
  useEffect(() => {
    if (isCurrent) ref.current?.scrollIntoView({ block: 'nearest' })
  }, [isCurrent])
  return (
    <Tr ref={ref} className={`r${isSelected ? ' sel' : ''}${isCurrent ? ' cur' : ''}`}>
      {onSelect === undefined ? null : (
        <Td className="c-sel">
          <input
            type="checkbox"
            aria-label={`Select run ${run.id}`}
            checked={isSelected}
            onClick={(event) => onSelect(event.shiftKey)}
            onChange={() => {}}
          />
        </Td>
      )}
      <Td className="c-st">
        <RunBadge status={run.status} stopping={run.cancelRequestedAt !== null} />
      </Td>
      <Td className="c-id">
        <Link className="id" href={`/runs/${run.id}`}>
          {run.id}
        </Link>
      </Td>
      <Td className="c-task">
        <Link href={`/runs/${run.id}`} tabIndex={-1}>
          {run.task}
        </Link>
      </Td>
      <Td className="c-prog fill">
        <RunOutcome run={run} />
      </Td>
      <Td className="hide-s">
        {run.replicaId === null ? (
          <span className="mute">–</span>
        ) : (
          <Link href={`/nodes/${encodeURIComponent(run.replicaId)}`}>{run.replicaName ?? run.replicaId}</Link>
        )}
      </Td>
      <Td className="num hide-s hide-m less">{run.attempt === 0 ? <span className="mute">–</span> : run.attempt}</Td>
      <Td className="num hide-s hide-m less">
        <Waited run={run} />
      </Td>
      <Td className="num hide-s">
        <Took run={run} />
      </Td>
      <Td className="num c-age mute">
        <Ago at={(byEnd ? run.finishedAt : null) ?? run.createdAt} />
      </Td>
    </Tr>
  )
})

/** From when it could start to when it did, or to now. Of a later attempt it is not known. */
function Waited({ run }: { readonly run: RunSummary }): ReactNode {
  const now = useNow()
  const from = Date.parse(run.runAt)
  if (run.status === 'AVAILABLE') return duration(now - from)
  if (run.startedAt === null || run.status === 'PENDING' || run.attempt > 1 || run.crashCount > 0)
    return <span className="mute">–</span>
  return duration(Date.parse(run.startedAt) - from)
}

function Took({ run }: { readonly run: RunSummary }): ReactNode {
  const now = useNow()
  if (run.startedAt === null) return <span className="mute">–</span>
  const end = run.finishedAt === null ? now : Date.parse(run.finishedAt)
  if (run.finishedAt === null && run.status !== 'RUNNING') return <span className="mute">–</span>
  return duration(end - Date.parse(run.startedAt))
}
