/** The selection of the list of runs: the cursor, the selected rows, and the keys that change them or act on them. */
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useKeys } from '../../app/keys.ts'
import type { BulkKind } from './bulk/bulk-kinds.ts'
import { toggledRange } from './selection.ts'
import type { RunsView } from './views.ts'

export type Selection = ReadonlySet<string> | 'all'

export function useRunSelection(runs: readonly { readonly id: string }[], view: RunsView) {
  const [, navigate] = useLocation()
  const [selection, setSelection] = useState<Selection>(new Set<string>())
  const [cursor, setCursor] = useState(-1)
  const [anchor, setAnchor] = useState(-1)
  const [asked, setAsked] = useState<BulkKind>()
  const current = runs[cursor]

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
  return { selection, setSelection, cursor, asked, canAll, select, clear }
}
