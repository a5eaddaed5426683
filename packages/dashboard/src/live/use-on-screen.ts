/**
 * Whether the browser draws an element with `content-visibility: auto`. The ages in a row that is not drawn stand still: on a page of
 * 200 nodes the tick of every second is work for the rows on screen alone.
 */
import { useLayoutEffect, useRef, useState, type RefObject } from 'react'

export function useOnScreen<T extends Element>(): readonly [RefObject<T | null>, boolean] {
  const ref = useRef<T>(null)
  const [isOnScreen, setOnScreen] = useState(true)
  // Before the first layout: the browser reports a row out of sight once, right after it.
  useLayoutEffect(() => {
    const element = ref.current
    const changed = (event: Event) => setOnScreen(!(event as ContentVisibilityAutoStateChangeEvent).skipped)
    element?.addEventListener('contentvisibilityautostatechange', changed)
    return () => element?.removeEventListener('contentvisibilityautostatechange', changed)
  }, [])
  return [ref, isOnScreen]
}
