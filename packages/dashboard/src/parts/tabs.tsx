/** Views of a page as links: each has its own address. */
import type { ReactNode } from 'react'
import { Link, useSearch } from 'wouter'

interface Props {
  readonly label: string
  readonly path: string
  readonly tabs: readonly { readonly query: string; readonly label: string; readonly count?: ReactNode }[]
}

export function Tabs({ label, path, tabs }: Props): ReactNode {
  const search = useSearch()
  return (
    <nav className="views" aria-label={label}>
      {tabs.map(({ query, label: word, count }) => (
        <Link
          key={query}
          href={query === '' ? path : `${path}?${query}`}
          aria-current={search === query ? 'page' : undefined}
        >
          {word}
          {count === undefined || count === null ? null : <span className="n">{count}</span>}
        </Link>
      ))}
    </nav>
  )
}
