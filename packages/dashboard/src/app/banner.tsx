/** Says that what is shown is old, since when and why; the page comes back by itself. */
import type { ReactNode } from 'react'
import { useConnection } from '../live/connection.ts'
import { Glyph } from '../parts/glyph.tsx'
import { clockTime } from '../words/times.ts'
import { visibleText } from '../words/visible-text.ts'

export function Banner(): ReactNode {
  const { away, lastAt } = useConnection()
  if (away === null) return null
  return (
    <div className="banner failed" role="alert">
      <Glyph name="lost" />
      <b>
        {away.what === 'database' ? 'No database' : 'No answer from the server'} since {clockTime(new Date(away.since))}
      </b>
      <span className="soft">
        {away.why === '' ? '' : `${visibleText(away.why)}. `}Shown: {clockTime(new Date(lastAt))}. Actions are off; the
        page comes back by itself.
      </span>
    </div>
  )
}
