/**
 * What can be done to the selection. Each button counts what it can act on. A selection of rows is done row by row; everything that
 * matches becomes an operation, which goes on without this page.
 */
import { useState, type ReactNode } from 'react'
import type { Operation, OperationKind } from '../../api/contract.ts'
import type { RunCount, RunSummary } from '../../api/run-contract.ts'
import { useAct } from '../../api/use-act.ts'
import { useData } from '../../api/use-data.ts'
import { useEachRun } from '../../api/use-each-run.ts'
import { useKeys } from '../../app/keys.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { CliLine } from '../../parts/cli-line.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { bounded, boundedInWords, count, several } from '../../words/numbers.ts'
import { type ApiFilter, apiQuery, cliOptions } from './filter.ts'
import type { Selection } from './use-run-selection.ts'
import type { View } from './views.ts'

interface Props {
  readonly selection: Selection
  readonly runs: readonly RunSummary[]
  readonly view: View
  readonly filter: ApiFilter
  /** What a key already asked for, for the row at the cursor. */
  readonly asked?: BulkKind | undefined
  readonly onClear: () => void
  /** `of`: as many runs matched; undefined: that is not known exactly. */
  readonly onOperation: (id: string, of: number | undefined) => void
}

const can = {
  cancel: ['pending', 'available', 'claimed', 'running'],
  retry: ['failed', 'cancelled', 'expired'],
} as const

export type BulkKind = keyof typeof can
type Kind = BulkKind

const verbs = { cancel: 'Cancel', retry: 'Retry' } as const

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

function AllThatMatch({ view, filter, runs, onOperation }: Props): ReactNode {
  const [asking, setAsking] = useState<Kind>()
  const { act, busy } = useAct()
  const given = (filter['status'] as readonly string[] | undefined) ?? view.states ?? []
  const statesFor = (kind: Kind) =>
    given.length === 0
      ? kind === 'retry'
        ? ['failed']
        : [...can.cancel]
      : given.filter((state) => (can[kind] as readonly string[]).includes(state))
  const filterFor = (kind: Kind) => ({ ...filter, status: statesFor(kind) })
  const counts = { cancel: useMatches(filterFor('cancel')), retry: useMatches(filterFor('retry')) }
  const all = useMatches(given.length === 0 ? filter : { ...filter, status: given })
  const options = (kind: Kind) => cliOptions(filterFor(kind))
  useKeys({
    r: () => statesFor('retry').length > 0 && setAsking('retry'),
    c: () => statesFor('cancel').length > 0 && setAsking('cancel'),
  })

  async function start(kind: OperationKind & Kind): Promise<void> {
    const operation = await act<Operation>({
      method: 'POST',
      path: '/operations',
      body: { kind, filter: filterFor(kind) },
      done: () => undefined,
    })
    const matching = counts[kind]
    if (operation !== undefined) onOperation(operation.id, matching?.atLeast === false ? matching.count : undefined)
  }
  const main: Kind = (counts.retry?.count ?? 0) > 0 ? 'retry' : 'cancel'
  return (
    <>
      <b>All {all === undefined ? '' : bounded(all)} matches</b>
      <span className="mute only-l" title="Runs enqueued after the click are not touched">
        up to {runs[0]?.id}
      </span>
      <span className="grow only-l" />
      <CliLine command={`q ${main} ${options(main)}`} />
      {(['cancel', 'retry'] as const).map((kind) => {
        const matching = counts[kind]
        if (statesFor(kind).length === 0 || matching?.count === 0) return null
        return (
          <ActButton
            key={kind}
            look={kind === main ? 'pri' : ''}
            disabled={busy || matching === undefined}
            onClick={() => setAsking(kind)}
          >
            {verbs[kind]} {matching === undefined ? '…' : `${bounded(matching)} runs`}
          </ActButton>
        )
      })}
      {asking === undefined ? null : (
        <ConfirmAll
          kind={asking}
          matching={counts[asking]}
          command={`q ${asking} ${options(asking)} --yes`}
          busy={busy}
          onConfirm={() => void start(asking).then(() => setAsking(undefined))}
          onClose={() => setAsking(undefined)}
        />
      )}
    </>
  )
}

interface ConfirmAllProps {
  readonly kind: Kind
  /** Undefined until they are counted: then nothing can be confirmed. */
  readonly matching: RunCount | undefined
  readonly command: string
  readonly busy: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** The number in the sentence is exact, or says that it is a lower bound. */
function ConfirmAll({ kind, matching, ...rest }: ConfirmAllProps): ReactNode {
  const sentence = `${verbs[kind]} ${matching === undefined ? '…' : boundedInWords(matching)} ${matching?.count === 1 ? 'run' : 'runs'}`
  return (
    <Confirm
      {...rest}
      title={`${sentence}?`}
      lead="Runs that are enqueued from now on are not touched. It goes on without this page, says what became of each run, and can be stopped between two steps."
      button={sentence}
      danger={kind === 'cancel'}
      touches={matching?.count ?? 1}
      busy={rest.busy || matching === undefined}
    />
  )
}

function useMatches(filter: ApiFilter): RunCount | undefined {
  return useData<RunCount>(`/runs/count?${apiQuery(filter)}`, { everyMs: 10_000 }).data
}

function Rows({ selection, runs, asked, onClear }: Props & { readonly selection: ReadonlySet<string> }): ReactNode {
  const [asking, setAsking] = useState(asked)
  const { each, busy } = useEachRun()
  const chosen = runs.filter(({ id }) => selection.has(id))
  const able = (kind: Kind) =>
    chosen.filter(({ status }) => (can[kind] as readonly string[]).includes(status.toLowerCase()))
  useKeys({
    r: () => able('retry').length > 0 && setAsking('retry'),
    c: () => able('cancel').length > 0 && setAsking('cancel'),
  })

  async function confirm(kind: Kind): Promise<void> {
    await each(kind, ids(kind))
    onClear()
  }
  const ids = (kind: Kind) => able(kind).map(({ id }) => id)
  const main: Kind = able('retry').length > 0 ? 'retry' : 'cancel'
  return (
    <>
      <b>{count(selection.size)} selected</b>
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
