/** Asks before an operation on everything that matches. The number in its sentence is that of the server's dry run. */
import type { ReactNode } from 'react'
import type { Bounded } from '../../../api/contract.ts'
import type { RequestProblem } from '../../../api/problem.ts'
import { usePreview } from '../../../api/use-preview.ts'
import { Confirm } from '../../../parts/confirm.tsx'
import { boundedPhrase } from '../../../words/numbers.ts'
import { type BulkKind, verbs } from './bulk-kinds.ts'
import { type ApiFilter, cliOptions } from '../filter.ts'

interface ConfirmAllProps {
  readonly kind: BulkKind
  readonly filter: ApiFilter
  readonly busy: boolean
  readonly onConfirm: (match: Bounded) => void
  readonly onClose: () => void
}

/** Counts again, so that the number in the sentence is that of the question: exact, or a lower bound that is named as one. */
export function ConfirmAll({ kind, filter, busy, onConfirm, onClose }: ConfirmAllProps): ReactNode {
  const { match, problem, countAgain } = usePreview(kind, filter)
  const sentence = match === undefined ? `${verbs[kind]} …` : confirmation(kind, match, boundedPhrase)
  return (
    <Confirm
      command={`q ${kind === 'retry' ? 'retry' : 'cancel'} ${cliOptions(filter)} --yes`}
      title={`${sentence}?`}
      lead={leadOf(match, filter)}
      button={sentence}
      danger={kind === 'cancel'}
      touches={match?.count ?? 1}
      busy={busy || match === undefined || isNone(match)}
      onConfirm={() => match !== undefined && onConfirm(match)}
      onClose={onClose}
    >
      {problem === undefined ? null : (
        <div className="opts">
          <NotCounted problem={problem} onAgain={countAgain} />
        </div>
      )}
    </Confirm>
  )
}

const lead =
  'Runs that are enqueued from now on are not touched. It goes on without this page, says what became of each run, and can be stopped between two steps.'
const noneYet = 'Not all runs were read, and none of those that were read matches.'
const alsoHidden = 'Runs whose hidden values match count too, although the list does not show them.'

function leadOf(match: Bounded | undefined, filter: ApiFilter): string {
  const isNoneYet = match?.count === 0 && match.atLeast
  return [...(isNoneYet ? [noneYet] : []), ...(filter['payload'] === undefined ? [] : [alsoHidden]), lead].join(' ')
}

/** Whether it is certain that no run matches: without `atLeast` all runs were read. */
export function isNone(match: Bounded | undefined): boolean {
  return match !== undefined && match.count === 0 && !match.atLeast
}

export function confirmation(kind: BulkKind, match: Bounded, inWords: (match: Bounded) => string): string {
  if (match.count === 0 && match.atLeast) return `${verbs[kind]} all that match`
  return `${verbs[kind]} ${inWords(match)} ${match.count === 1 ? 'run' : 'runs'}`
}

export function NotCounted({
  problem,
  onAgain,
}: {
  readonly problem: RequestProblem
  readonly onAgain: () => void
}): ReactNode {
  return (
    <span className="wrap" role="alert">
      <span className="bad">They could not be counted: {problem.title}</span>
      <button type="button" className="btn" onClick={onAgain}>
        Count again
      </button>
    </span>
  )
}
