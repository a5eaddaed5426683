/**
 * The actions on the selection. Each button counts what it can act on. A selection of rows is done row by row; everything that
 * matches becomes an operation, which goes on without this page.
 */
import { useState, type ReactNode } from 'react'
import type { RunSummary } from '../../../api/run-contract.ts'
import { useEachRun } from '../../../api/use-each-run.ts'
import { useKeys } from '../../../app/keys.ts'
import { ActButton } from '../../../parts/act-button.tsx'
import { CliLine } from '../../../parts/cli-line.tsx'
import { Confirm } from '../../../parts/confirm.tsx'
import { countLabel, several } from '../../../words/numbers.ts'
import { AllThatMatch } from './all-that-match.tsx'
import { type BulkKind, can, verbs } from './bulk-kinds.ts'
import type { ApiFilter } from '../filter.ts'
import type { Selection } from '../use-run-selection.ts'
import type { RunsView } from '../views.ts'

interface Props {
  readonly selection: Selection
  readonly runs: readonly RunSummary[]
  readonly view: RunsView
  readonly filter: ApiFilter
  /** What a key already asked for, for the row at the cursor. */
  readonly asked?: BulkKind | undefined
  readonly onClear: () => void
  /** `of`: as many runs matched; undefined: that is not known exactly. */
  readonly onOperation: (id: string, of: number | undefined) => void
}

export function BulkBar(props: Props): ReactNode {
  const { selection, onClear } = props
  return (
    <div className="bulk" role="region" aria-label="Selection">
      {selection === 'all' ? <AllThatMatch {...props} /> : <Rows {...props} selection={selection} />}
      <button type="button" className="btn ghost" onClick={onClear}>
        Clear <kbd>esc</kbd>
      </button>
    </div>
  )
}

function Rows({ selection, runs, asked, onClear }: Props & { readonly selection: ReadonlySet<string> }): ReactNode {
  const [asking, setAsking] = useState(asked)
  const { each, busy } = useEachRun()
  const chosen = runs.filter(({ id }) => selection.has(id))
  const able = (kind: BulkKind) =>
    chosen.filter(({ status }) => (can[kind] as readonly string[]).includes(status.toLowerCase()))
  useKeys({
    r: () => able('retry').length > 0 && setAsking('retry'),
    c: () => able('cancel').length > 0 && setAsking('cancel'),
  })

  async function confirm(kind: BulkKind): Promise<void> {
    await each(kind, ids(kind))
    onClear()
  }
  const ids = (kind: BulkKind) => able(kind).map(({ id }) => id)
  const main: BulkKind = able('retry').length > 0 ? 'retry' : 'cancel'
  return (
    <>
      <b>{countLabel(selection.size)} selected</b>
      <span className="grow only-l" />
      {ids(main).length === 0 ? null : <CliLine command={`q ${main} ${ids(main).join(' ')}`} />}
      {(['cancel', 'retry'] as const).map((kind) =>
        ids(kind).length === 0 ? null : (
          <ActButton key={kind} look={kind === main ? 'pri' : ''} disabled={busy} onClick={() => setAsking(kind)}>
            {verbs[kind]} {several(ids(kind).length, 'run')}
          </ActButton>
        ),
      )}
      {asking === undefined || ids(asking).length === 0 ? null : (
        <Confirm
          title={`${verbs[asking]} ${several(ids(asking).length, 'run')}?`}
          lead={ids(asking).join(', ')}
          command={`q ${asking} ${ids(asking).join(' ')}`}
          button={`${verbs[asking]} ${several(ids(asking).length, 'run')}`}
          danger={asking === 'cancel'}
          busy={busy}
          onConfirm={() => void confirm(asking)}
          onClose={() => setAsking(undefined)}
        />
      )}
    </>
  )
}
