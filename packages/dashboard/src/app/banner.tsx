/** Says that what is shown is old, since when and why; the page comes back by itself. */
import { useEffect, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import { connection, useConnection, type OldData } from '../live/connection.ts'
import { Glyph } from '../parts/glyph.tsx'
import { clockTime } from '../words/times.ts'
import { visibleText } from '../words/visible-text.ts'

export function Banner(): ReactNode {
  const { away, old, lastAt } = useConnection()
  const [location] = useLocation()
  useEffect(() => connection.leftPage, [location])
  if (away === null) return <OldBanner old={[...old.values()]} />
  return (
    <div className="banner failed" role="alert">
      <Glyph name="lost" />
      <b>
        {away.what === 'database' ? 'No database' : 'No answer from the server'} since {clockTime(new Date(away.since))}
      </b>
      <span className="soft">
        {away.why === '' ? '' : `${visibleText(away.why).replace(/[.…]*$/, '.')} `}
        {lastAt === null ? '' : `Shown: ${clockTime(new Date(lastAt))}. `}Actions are off; the page comes back by
        itself.
      </span>
    </div>
  )
}

/** The other data is fresh, and actions work. */
function OldBanner({ old }: { readonly old: readonly OldData[] }): ReactNode {
  const [first] = old
  if (first === undefined) return null
  return (
    <div className="banner failed" role="alert">
      <Glyph name="lost" />
      <b>
        Old since {clockTime(new Date(Math.min(...old.map(({ since }) => since))))}:{' '}
        {visibleText([...new Set(old.map(({ name }) => name))].join(', '))}
      </b>
      <span className="soft">{visibleText(first.why)} Everything else is up to date.</span>
    </div>
  )
}
