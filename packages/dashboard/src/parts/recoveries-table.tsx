/** Runs that were taken from nodes that died: when, why, and what became of them. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { RecoveryView, TaskState } from '../api/contract.ts'
import { duration } from '../words/durations.ts'
import { causeInWords } from '../words/recovery-causes.ts'
import { RunBadge } from './badge.tsx'
import { Body, Table, Td, Th, Tr } from './table.tsx'
import { At } from './time.tsx'

interface Props {
  readonly recoveries: readonly RecoveryView[]
  /** All are of one node, which need not be named in each row. */
  readonly ofOneNode?: boolean
  readonly selected?: ReadonlySet<string>
  readonly onSelect?: (id: string) => void
}

export function RecoveriesTable({ recoveries, ofOneNode = false, selected, onSelect }: Props): ReactNode {
  const head = (
    <>
      {onSelect === undefined ? null : (
        <Th>
          <span className="vh">Select</span>
        </Th>
      )}
      <Th>At</Th>
      <Th>Run</Th>
      <Th>Task</Th>
      <Th>Was</Th>
      <Th>Became</Th>
      <Th>{ofOneNode ? 'By' : 'From'}</Th>
      <Th>Cause</Th>
      <Th className="num hide-m">Silent</Th>
      <Th>Review</Th>
    </>
  )
  return (
    <Table label="Recoveries" className={onSelect === undefined ? 't-v' : 't-v picks'} head={head}>
      <Body>
        {recoveries.map((recovery) => (
          <Tr key={recovery.id}>
            {onSelect === undefined ? null : (
              <Td className="c-sel">
                {recovery.reviewedAt === null ? (
                  <input
                    type="checkbox"
                    aria-label={`Select the recovery of run ${recovery.runId}`}
                    checked={selected?.has(recovery.id) ?? false}
                    onChange={() => onSelect(recovery.id)}
                  />
                ) : null}
              </Td>
            )}
            <Td className="c-age mute">
              <At at={recovery.at} />
            </Td>
            <Td className="c-id end">
              <Link className="id" href={`/runs/${recovery.runId}`}>
                {recovery.runId}
              </Link>
            </Td>
            <Td className="c-task">{recovery.task}</Td>
            <Td className="hide-s mute">{recovery.was}</Td>
            <Td className="c-st">
              <RunBadge status={recovery.became as TaskState} />
            </Td>
            {ofOneNode ? (
              <Td className="c-from" data-l="by">
                {recovery.recoveredByName ?? recovery.recoveredBy}
              </Td>
            ) : (
              <Td className="c-from" data-l="from">
                <Link href={`/nodes/${encodeURIComponent(recovery.replicaId)}`}>
                  {recovery.replicaName ?? recovery.replicaId}
                </Link>
                <span className="mute"> by {recovery.recoveredByName ?? recovery.recoveredBy}</span>
              </Td>
            )}
            <Td className="c-why fill soft">
              <span className="cut" title={recovery.cause}>
                {causeOf(recovery)}
              </span>
            </Td>
            <Td className="num hide-s hide-m">{recovery.beatAgeMs === null ? '–' : duration(recovery.beatAgeMs)}</Td>
            <Td className="c-rev end">
              <Reviewed recovery={recovery} />
            </Td>
          </Tr>
        ))}
      </Body>
    </Table>
  )
}

function causeOf({ cause, code }: RecoveryView): string {
  return code === null ? causeInWords(cause) : `${causeInWords(cause)}, ${code}`
}

function Reviewed({ recovery }: { readonly recovery: RecoveryView }): ReactNode {
  if (recovery.reviewedAt === null)
    return recovery.needsReview ? <span className="warn">to review</span> : <span className="mute">–</span>
  return <span className="mute">{recovery.reviewedBy === null ? 'reviewed' : `by ${recovery.reviewedBy}`}</span>
}
