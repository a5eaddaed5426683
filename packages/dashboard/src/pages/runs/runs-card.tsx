/** The list itself: rows, selection, keys, and the line that says how far it looked. */
import { useState, type ReactNode } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { useKeys } from '../../app/keys.ts'
import { useNow } from '../../live/use-now.ts'
import { Card, Empty, Pending } from '../../parts/card.tsx'
import { OperationBar } from '../../parts/operation-bar.tsx'
import { count, several } from '../../words/numbers.ts'
import { dayTime } from '../../words/times.ts'
import { BulkBar, type BulkKind } from './bulk-bar.tsx'
import { TokenChip } from './filter-bar.tsx'
import type { ApiFilter, Token } from './filter.ts'
import { rememberList } from './remembered-list.ts'
import { RunsTable } from './runs-table.tsx'
import { perPage, type RunList, useRuns } from './use-runs.ts'
import { toggledRange } from './selection.ts'
import type { View } from './views.ts'

interface Props {
  readonly view: View
  readonly tokens: readonly Token[]
  readonly filter: ApiFilter
  readonly query: URLSearchParams
  readonly onTokens: (tokens: readonly Token[]) => void
}

export type Selection = ReadonlySet<string> | 'all'

export function RunsCard({ view, tokens, filter, query, onTokens }: Props): ReactNode {
  const list = useRuns(query)
  const [, navigate] = useLocation()
  const [search, setSearch] = useSearchParams()
  const [selection, setSelection] = useState<Selection>(new Set<string>())
  const [cursor, setCursor] = useState(-1)
  const [anchor, setAnchor] = useState(-1)
  const [asked, setAsked] = useState<BulkKind>()
  const { runs } = list
  const current = runs[cursor]
  const operation = search.get('operation')
  rememberList(runs.map(({ id }) => id))

  function select(index: number, isRange: boolean): void {
    const chosen = selection === 'all' ? new Set(runs.map(({ id }) => id)) : selection
    setSelection(
      toggledRange(
        chosen,
        runs.map(({ id }) => id),
        isRange && anchor >= 0 ? anchor : index,
        index,
      ),
    )
    setAnchor(index)
  }
  const ask = (kind: BulkKind) => () => {
    if (current === undefined) return
    setSelection(new Set([current.id]))
    setAsked(kind)
  }
  const clear = () => {
    setSelection(new Set())
    setAsked(undefined)
  }
  const canAll = view.states !== null && runs.length > 0
  useKeys({
    j: () => setCursor(Math.min(runs.length - 1, cursor + 1)),
    k: () => setCursor(Math.max(0, cursor - 1)),
    Enter: () => current !== undefined && navigate(`/runs/${current.id}`),
    w: () => current !== undefined && navigate(`/runs/${current.id}#why`),
    l: () => current !== undefined && navigate(`/runs/${current.id}#logs`),
    x: () => cursor >= 0 && select(cursor, false),
    X: () => cursor >= 0 && select(cursor, true),
    a: () => canAll && setSelection('all'),
    r: ask('retry'),
    c: ask('cancel'),
    Escape: clear,
  })
  const setOperation = (id: string | null) => setSearch(withOperation(search, id))
  return (
    <>
      {operation === null ? null : <OperationBar id={operation} onClose={() => setOperation(null)} />}
      <Card label="Runs that match">
        {list.newRuns > 0 ? <NewRuns list={list} /> : null}
        {selection === 'all' || selection.size > 0 ? (
          <BulkBar
            selection={selection}
            runs={runs}
            view={view}
            tokens={tokens}
            filter={filter}
            asked={asked}
            onClear={clear}
            onOperation={(id) => (setOperation(id), setSelection(new Set()))}
          />
        ) : null}
        {!list.isLoaded ? (
          <Pending error={list.error} rows={12} />
        ) : runs.length === 0 ? (
          <NothingFound list={list} view={view} tokens={tokens} onTokens={onTokens} />
        ) : (
          <>
            <RunsTable
              runs={runs}
              cursor={cursor}
              choosing={{
                selection,
                canAll,
                onSelect: select,
                onAll: () => setSelection(selection === 'all' ? new Set() : 'all'),
              }}
            />
            <Looked list={list} />
          </>
        )}
      </Card>
    </>
  )
}

function withOperation(search: URLSearchParams, id: string | null): URLSearchParams {
  const next = new URLSearchParams(search)
  if (id === null) next.delete('operation')
  else next.set('operation', id)
  return next
}

function NewRuns({ list }: { readonly list: RunList }): ReactNode {
  return (
    <div className="newruns" role="status">
      <button type="button" className="btn pill" onClick={list.showNew}>
        {count(list.newRuns)}
        {list.newRuns >= 50 ? '+' : ''} new
      </button>
    </div>
  )
}

function Looked({ list }: { readonly list: RunList }): ReactNode {
  const now = new Date(useNow())
  const back = list.lookedBackTo === null ? '' : ` back to ${dayTime(new Date(list.lookedBackTo), now)}`
  return (
    <div className="looked">
      <span>
        {list.exhausted && !list.hasNext
          ? `That is all: ${several(list.runs.length, 'run')}.`
          : `Looked at ${several(list.looked, 'run')}${back}.`}{' '}
        {list.exhausted ? '' : <span className="mute">{several(list.runs.length, 'match', 'match')}.</span>}
      </span>
      {list.hasNext ? (
        <button type="button" className="btn" disabled={list.isFetchingNext} onClick={list.fetchNext}>
          {list.isLastFull ? `Next ${perPage}` : 'Look further back'}
        </button>
      ) : null}
    </div>
  )
}

interface NothingProps {
  readonly list: RunList
  readonly view: View
  readonly tokens: readonly Token[]
  readonly onTokens: (tokens: readonly Token[]) => void
}

/** Three different reasons for an empty list, each with the way out of it. */
function NothingFound({ list, view, tokens, onTokens }: NothingProps): ReactNode {
  const now = new Date(useNow())
  if (!list.exhausted && list.hasNext)
    return (
      <Empty title="Not looked far enough">
        <p>
          Looked at {several(list.looked, 'run')}
          {list.lookedBackTo === null ? '' : ` back to ${dayTime(new Date(list.lookedBackTo), now)}`}, none matches.
        </p>
        <button type="button" className="btn" disabled={list.isFetchingNext} onClick={list.fetchNext}>
          Look further back
        </button>
      </Empty>
    )
  if (tokens.length > 0)
    return (
      <Empty title="Nothing matches">
        <p>No run has all of this. Remove what is too much:</p>
        <div className="wrap">
          {tokens.map((token) => (
            <TokenChip
              key={`${token.key} ${token.value}`}
              token={token}
              onRemove={() => onTokens(tokens.filter((other) => other !== token))}
            />
          ))}
        </div>
      </Empty>
    )
  if (view.name === 'newest')
    return (
      <Empty title="No run yet" command="q enqueue <task>">
        <p>{view.empty}</p>
      </Empty>
    )
  return <Empty title={view.empty} />
}
