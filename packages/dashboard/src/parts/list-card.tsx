/** A card around a paged list: what it shows while it loads, when it is empty, and how to get more. */
import type { ReactNode } from 'react'
import type { PagedList } from '../api/use-pages.ts'
import { Card, Pending } from './card.tsx'

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
      ) : list.items.length === 0 ? (
        empty
      ) : (
        children(list.items)
      )}
      {list.hasNext ? (
        <div className="looked">
          <button type="button" className="btn" disabled={list.isFetchingNext} onClick={list.fetchNext}>
            Show more
          </button>
        </div>
      ) : null}
    </Card>
  )
}
