/** The list itself: rows, selection, keys, and the line that says how far it looked. */
import type { ReactNode } from 'react'
import { useSearchParams } from 'wouter'
import { useNow } from '../../live/use-now.ts'
import { Card, Empty, Pending } from '../../parts/card.tsx'
import { OperationBar } from '../../parts/operation-bar.tsx'
import { countLabel, several } from '../../words/numbers.ts'
import { dayTime } from '../../words/times.ts'
import { BulkBar } from './bulk/bulk-bar.tsx'
import { TokenChips } from './filter-bar.tsx'
import type { ApiFilter, FilterToken } from './filter.ts'
import { rememberList } from './remembered-list.ts'
import { RunsTable } from './runs-table.tsx'
import { perPage, type RunList, useRuns } from './use-runs.ts'
import { useRunSelection } from './use-run-selection.ts'
import type { RunsView } from './views.ts'

interface Props {
  readonly view: RunsView
  readonly tokens: readonly FilterToken[]
  readonly filter: ApiFilter
  readonly query: URLSearchParams
  readonly onTokens: (tokens: readonly FilterToken[]) => void
}

export function RunsCard({ view, tokens, filter, query, onTokens }: Props): ReactNode {
  const list = useRuns(query)
  const [search, setSearch] = useSearchParams()
  const { runs } = list
  const operation = search.get('operation')
  rememberList(runs.map(({ id }) => id))

  const { selection, setSelection, cursor, asked, canAll, select, clear } = useRunSelection(runs, view)
  const setOperation = (id: string | null, of?: number) => setSearch(withOperation(search, id, of))
  return (
    <>
      {operation === null ? null : (
        <OperationBar id={operation} of={countIn(search)} onClose={() => setOperation(null)} />
      )}
      <Card label="Runs that match">
        {list.newRuns > 0 ? <NewRuns list={list} /> : null}
        {selection === 'all' || selection.size > 0 ? (
          <BulkBar
            selection={selection}
            runs={runs}
            view={view}
            filter={filter}
            asked={asked}
            onClear={clear}
            onOperation={(id, of) => (setOperation(id, of), setSelection(new Set()))}
          />
        ) : null}
        {!list.isLoaded ? (
          <Pending error={list.error} rows={12} />
        ) : runs.length === 0 ? (
          <NothingFound list={list} view={view} tokens={tokens} onTokens={onTokens} />
        ) : (
          <>
            {canAll && selection !== 'all' && selection.size === 0 ? (
              <div className="looked only-s">
                <button type="button" className="btn" onClick={() => setSelection('all')}>
                  Select all that match
                </button>
              </div>
            ) : null}
            <RunsTable
              runs={runs}
              cursor={cursor}
              byEnd={view.name === 'failed'}
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

/** The number of runs of the operation in the address. */
function countIn(search: URLSearchParams): number | undefined {
  const of = Number(search.get('of'))
  return Number.isInteger(of) && of > 0 ? of : undefined
}

function withOperation(search: URLSearchParams, id: string | null, of?: number): URLSearchParams {
  const next = new URLSearchParams(search)
  next.delete('of')
  if (of !== undefined) next.set('of', String(of))
  if (id === null) next.delete('operation')
  else next.set('operation', id)
  return next
}

function NewRuns({ list }: { readonly list: RunList }): ReactNode {
  return (
    <div className="newruns" role="status">
      <button type="button" className="btn pill" onClick={list.showNew}>
        {countLabel(list.newRuns)}
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
  readonly view: RunsView
  readonly tokens: readonly FilterToken[]
  readonly onTokens: (tokens: readonly FilterToken[]) => void
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
        <p>No run matches all of these filters. Remove one:</p>
        <div className="wrap">
          <TokenChips tokens={tokens} onChange={onTokens} />
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
