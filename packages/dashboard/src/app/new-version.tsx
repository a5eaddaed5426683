/** Says that the server was updated while this page was open: its scripts are those of the earlier version until it is loaded again. */
import { useState, type ReactNode } from 'react'
import { Glyph } from '../parts/glyph.tsx'
import { visibleText } from '../words/visible-text.ts'
import { useSession } from './may.ts'

export function NewVersion(): ReactNode {
  const version = useSession()?.version
  const [first, setFirst] = useState(version)
  if (first === undefined && version !== undefined) setFirst(version)
  if (version === undefined || first === undefined || version === first) return null
  return (
    <div className="banner running" role="status">
      <Glyph name="bang" />
      <b>The server was updated to {visibleText(version)}.</b>
      <span className="soft">This page is of {visibleText(first)}.</span>
      <button type="button" className="btn" onClick={() => location.reload()}>
        Reload
      </button>
    </div>
  )
}
