/** A card around a paged list: what it shows while it loads, when it is empty, and how to get more. */
import type { ReactNode } from 'react'
import type { PagedList } from '../api/use-pages.ts'
import { Card, Empty, Pending, ProblemNotice } from './card.tsx'
import type { RequestProblem } from '../api/problem.ts'

interface Props<T> {
  readonly label: string
  readonly list: PagedList<T>
  readonly empty: ReactNode
  readonly above?: ReactNode
  readonly children: (items: readonly T[]) => ReactNode
}

export function ListCard<T>({ label, list, empty, above, children }: Props<T>): ReactNode {
  return (
    <Card label={label}>
      {above}
      {!list.isLoaded ? (
        <Pending error={list.error} rows={8} />
      ) : list.items.length === 0 && list.hasNext ? (
        <Empty title="Not looked far enough">
          <p>A page looks at a bounded number, and none of those matches.</p>
        </Empty>
      ) : list.items.length === 0 ? (
        empty
      ) : (
        children(list.items)
      )}
      {list.isLoaded && list.error !== null && !isAway(list.error) ? <ProblemNotice problem={list.error} /> : null}
      {list.hasNext ? (
        <div className="looked">
          <button type="button" className="btn" disabled={list.isFetchingNext} onClick={list.fetchNext}>
            {list.items.length === 0 ? 'Look further back' : 'Show more'}
          </button>
        </div>
      ) : null}
    </Card>
  )
}

/** The banner says so already. */
function isAway({ status }: RequestProblem): boolean {
  return status === 0 || status === 503
}
