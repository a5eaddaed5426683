/** Runs by view and filter. Every list says how far it looked; what is done to everything that matches is an operation. */
import { type ReactNode } from 'react'
import { Link, useSearchParams } from 'wouter'
import type { Bounded, Overview } from '../../api/contract.ts'
import { useData } from '../../api/use-data.ts'
import { connection, useConnectionPart } from '../../live/connection.ts'
import { serverNow } from '../../live/server-clock.ts'
import { Card, Head } from '../../parts/card.tsx'
import { boundedLabel } from '../../words/numbers.ts'
import { visibleText } from '../../words/visible-text.ts'
import { FilterBar } from './filter-bar.tsx'
import { apiFilter, apiQuery, problemOfToken, searchWith, type TokenProblem, tokensIn } from './filter.ts'
import { RunsCard } from './runs-card.tsx'
import { useFixedTime } from './use-fixed-time.ts'
import { type RunsView, viewNamed, views } from './views.ts'

export function RunsPage(): ReactNode {
  const [search] = useSearchParams()
  const name = search.get('view')
  const view = viewNamed(name)
  return (
    <>
      <Head title="Runs">
        <div className="acts">
          <Freeze />
          <Link className="btn" href="/enqueue">
            Enqueue…
          </Link>
        </div>
      </Head>
      <Views current={view} search={search} />
      {view === undefined ? <NoSuchView name={name ?? ''} /> : <RunsOf view={view} />}
    </>
  )
}

function NoSuchView({ name }: { readonly name: string }): ReactNode {
  return (
    <Card label="Runs">
      <div className="problem" role="alert">
        <h2>There is no view “{visibleText(name)}”.</h2>
        <p>Choose one of the views above.</p>
      </div>
    </Card>
  )
}

function RunsOf({ view }: { readonly view: RunsView }): ReactNode {
  const [search, setSearch] = useSearchParams()
  const tokens = tokensIn(search)
  // "1h" is read once, so that the list does not begin again with every second.
  const readAt = useFixedTime(tokens.map(({ value }) => value).join(' '), serverNow)
  const filter = apiFilter(tokens, readAt)
  const bar = <FilterBar tokens={tokens} onChange={(next) => setSearch(searchWith(search, next))} />
  if (filter === undefined)
    return (
      <>
        {bar}
        <NotListed problems={tokens.flatMap((token) => problemOfToken(token) ?? [])} />
      </>
    )
  const query = apiQuery({ ...(view.name === 'newest' ? {} : { view: view.name }), ...filter })
  return (
    <>
      {bar}
      <RunsCard
        key={query.toString()}
        view={view}
        tokens={tokens}
        filter={filter}
        query={query}
        onTokens={(next) => setSearch(searchWith(search, next))}
      />
    </>
  )
}

/** Without the wrong condition the list, and an operation on it, would include runs that the person did not ask for. */
function NotListed({ problems }: { readonly problems: readonly TokenProblem[] }): ReactNode {
  return (
    <Card label="Runs that match">
      <div className="problem" role="alert">
        <h2>No runs are listed: the filter has a mistake.</h2>
        {problems.map(({ what, fix }) => (
          <p key={what}>
            {what} {fix}
          </p>
        ))}
      </div>
    </Card>
  )
}

function Freeze(): ReactNode {
  const frozenAt = useConnectionPart('frozenAt')
  return (
    <button type="button" className="btn ghost" aria-pressed={frozenAt !== null} onClick={connection.toggleFrozen}>
      {frozenAt === null ? 'Freeze' : 'Go on'} <kbd>.</kbd>
    </button>
  )
}

function Views({
  current,
  search,
}: {
  readonly current: RunsView | undefined
  readonly search: URLSearchParams
}): ReactNode {
  const { data } = useData<Overview>('/overview', { topic: 'overview' })
  const counts: Partial<Record<string, Bounded>> =
    data === undefined
      ? {}
      : { running: { count: data.running, atLeast: false }, review: data.toReview, waiting: data.ready }
  return (
    <nav className="views" aria-label="Views">
      {views.map(({ name, label }) => {
        const to = new URLSearchParams(search)
        if (name === 'newest') to.delete('view')
        else to.set('view', name)
        const count = counts[name]
        return (
          <Link
            key={name}
            href={`/runs${to.size === 0 ? '' : `?${to}`}`}
            aria-current={name === current?.name ? 'page' : undefined}
          >
            {label}
            {count === undefined || count.count === 0 ? null : <span className="n">{boundedLabel(count)}</span>}
          </Link>
        )
      })}
    </nav>
  )
}
