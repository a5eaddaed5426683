/** The actions on all matching runs: each is an operation, which continues without this page. */
import { useState, type ReactNode } from 'react'
import type { Bounded, Operation } from '../../../api/contract.ts'
import type { RunSummary } from '../../../api/run-contract.ts'
import { useAct } from '../../../api/use-act.ts'
import { type Preview, usePreview } from '../../../api/use-preview.ts'
import { useKeys } from '../../../app/keys.ts'
import { useRefusal } from '../../../app/may.ts'
import { ActButton } from '../../../parts/act-button.tsx'
import { CliLine } from '../../../parts/cli-line.tsx'
import { boundedLabel } from '../../../words/numbers.ts'
import { type BulkKind, can, verbs } from './bulk-kinds.ts'
import { ConfirmAll, isNone, NotCounted, confirmation } from './confirm-all.tsx'
import { type ApiFilter, cliOptions, statesOfName } from '../filter.ts'
import type { RunsView } from '../views.ts'

interface Props {
  readonly runs: readonly RunSummary[]
  readonly view: RunsView
  readonly filter: ApiFilter
  /** `of`: as many runs matched; undefined: that is not known exactly. */
  readonly onOperation: (id: string, of: number | undefined) => void
}

export function AllThatMatch({ view, filter, runs, onOperation }: Props): ReactNode {
  const [asking, setAsking] = useState<BulkKind>()
  const { act, busy } = useAct()
  const given = statesOf(view, filter)
  const statesFor = (kind: BulkKind) =>
    given === undefined
      ? kind === 'retry'
        ? ['failed']
        : [...can.cancel]
      : given.filter((state) => (can[kind] as readonly string[]).includes(state))
  const filterFor = (kind: BulkKind) => ({ ...filter, status: statesFor(kind) })
  const isPossible = (kind: BulkKind) => statesFor(kind).length > 0
  const previews = {
    cancel: usePreview('cancel', filterFor('cancel'), isPossible('cancel')),
    retry: usePreview('retry', filterFor('retry'), isPossible('retry')),
  }
  const shown = (['cancel', 'retry'] as const).filter((kind) => isPossible(kind) && !isNone(previews[kind].match))
  useKeys({
    r: () => shown.includes('retry') && setAsking('retry'),
    c: () => shown.includes('cancel') && setAsking('cancel'),
  })

  async function start(kind: BulkKind, match: Bounded): Promise<void> {
    const operation = await act<Operation>({
      method: 'POST',
      path: '/operations',
      body: { kind, filter: filterFor(kind) },
      done: () => undefined,
    })
    if (operation !== undefined) onOperation(operation.id, match.atLeast ? undefined : match.count)
  }
  const main: BulkKind = (previews.retry.match?.count ?? 0) > 0 || !shown.includes('cancel') ? 'retry' : 'cancel'
  return (
    <>
      <b>All that match</b>
      <span className="mute only-l" title="Runs enqueued after the click are not touched">
        up to {runs[0]?.id}
      </span>
      <span className="grow only-l" />
      {shown.length === 0 ? (
        <span className="mute">There is no action on all of these.</span>
      ) : (
        <CliLine command={`q ${main} ${cliOptions(filterFor(main))}`} />
      )}
      {shown.map((kind) => (
        <PreviewedButton
          key={kind}
          kind={kind}
          isMain={kind === main}
          preview={previews[kind]}
          busy={busy}
          onClick={() => setAsking(kind)}
        />
      ))}
      {asking === undefined ? null : (
        <ConfirmAll
          kind={asking}
          filter={filterFor(asking)}
          busy={busy}
          onConfirm={(match) => void start(asking, match).then(() => setAsking(undefined))}
          onClose={() => setAsking(undefined)}
        />
      )}
    </>
  )
}

/** The states that both the view and the filter show; undefined: all. An operation knows no views, so it needs both as states. */
function statesOf({ states }: RunsView, filter: ApiFilter): readonly string[] | undefined {
  const ofView = states === null || states.length === 0 ? undefined : states
  const named = filter['status'] as readonly string[] | undefined
  if (named === undefined) return ofView
  const meant = new Set(named.flatMap(statesOfName).map((state) => state.toLowerCase()))
  return [...meant].filter((state) => ofView === undefined || ofView.includes(state))
}

interface PreviewedProps {
  readonly kind: BulkKind
  readonly isMain: boolean
  readonly preview: Preview
  readonly busy: boolean
  readonly onClick: () => void
}

function PreviewedButton({ kind, isMain, preview, busy, onClick }: PreviewedProps): ReactNode {
  const { match, problem, countAgain } = preview
  const isRefused = useRefusal('admin') !== undefined
  if (problem !== undefined) return <NotCounted problem={problem} onAgain={countAgain} />
  return (
    <ActButton look={isMain ? 'pri' : ''} disabled={busy || match === undefined} onClick={onClick}>
      {match === undefined ? `${verbs[kind]}${isRefused ? '' : ' …'}` : confirmation(kind, match, boundedLabel)}
    </ActButton>
  )
}
