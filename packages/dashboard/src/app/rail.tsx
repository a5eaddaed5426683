/** The pages; on a phone a bar at the bottom with the four that are used most and the others under More. */
import { useRef, type ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import type { Bounded, Overview } from '../api/contract.ts'
import { useData } from '../api/use-data.ts'
import { Icon, Mark } from '../parts/icon.tsx'
import { boundedLabel } from '../words/numbers.ts'
import { useSession } from './may.ts'
import { type PageEntry, pages } from './pages.ts'
import { signOut } from './sign-in.ts'
import { toggleTheme } from './theme.ts'

export function Rail({ onKeys }: { readonly onKeys: () => void }): ReactNode {
  const session = useSession()
  const { data } = useData<Overview>('/overview', { topic: 'overview' })
  const counts: Readonly<Record<string, Bounded | undefined>> = {
    '/errors': data?.errorGroups,
    '/recoveries': data?.toReview,
  }
  const who = session === undefined ? '' : `${session.name} · ${session.readOnly ? 'read-only' : session.scope}`
  const more = useRef<HTMLDialogElement>(null)
  const toggleMore = () => (more.current?.open === true ? more.current.close() : more.current?.show())
  return (
    <nav className="rail" aria-label="Pages">
      <Link href="/" className="brand">
        <Mark />q{session === undefined ? null : <small>{session.version}</small>}
      </Link>
      <div className="nav">
        {pages.map((page, index) => (
          <PageLink
            key={page.path}
            page={page}
            count={counts[page.path]}
            isFirstOfSecond={page.second && pages[index - 1]?.second === false}
          />
        ))}
        <button type="button" className="only-s" onClick={toggleMore} aria-haspopup="dialog">
          <Icon name="more" />
          More
        </button>
      </div>
      <footer>
        <span className="who" title={who}>
          {who}
        </span>
        <button type="button" onClick={() => void signOut()} aria-label="Sign out" title="Sign out">
          <Icon name="leave" />
        </button>
        <button type="button" onClick={toggleTheme} aria-label="Change the theme" title="Theme (T)">
          <Icon name="theme" />
        </button>
        <button type="button" onClick={onKeys} aria-label="Show the keys" title="Keys (?)">
          <kbd>?</kbd>
        </button>
      </footer>
      <dialog className="more" ref={more} aria-label="More pages" onClick={() => more.current?.close()}>
        {pages
          .filter(({ inBar }) => !inBar)
          .map((page) => (
            <PageLink key={page.path} page={page} count={counts[page.path]} inMore />
          ))}
        <button type="button" onClick={toggleTheme}>
          <Icon name="theme" />
          Theme
        </button>
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      </dialog>
    </nav>
  )
}

interface LinkProps {
  readonly page: PageEntry
  readonly count: Bounded | undefined
  readonly isFirstOfSecond?: boolean
  readonly inMore?: boolean
}

function PageLink({ page, count, isFirstOfSecond = false, inMore = false }: LinkProps): ReactNode {
  const [path] = useLocation()
  const isCurrent = page.path === '/' ? path === '/' : path === page.path || path.startsWith(`${page.path}/`)
  return (
    <>
      {isFirstOfSecond ? <hr /> : null}
      <Link
        href={page.path}
        className={inMore || page.inBar ? '' : 'only-l'}
        title={page.name}
        aria-current={isCurrent ? 'page' : undefined}
      >
        <Icon name={page.icon} />
        {page.name}
        {count === undefined || count.count === 0 ? null : <span className="n">{boundedLabel(count)}</span>}
      </Link>
    </>
  )
}
