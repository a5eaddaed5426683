/** Copies text, and confirms it on the screen and to screen readers for a second and a half. */
import { useEffect, useState, type ReactNode } from 'react'
import { Glyph } from './glyph.tsx'

const shownMs = 1_500

export function Copy({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const [done, setDone] = useState(false)
  useEffect(() => {
    if (!done) return
    const timer = setTimeout(() => setDone(false), shownMs)
    return () => clearTimeout(timer)
  }, [done])
  const copy = () => void copyText(text).then(setDone)
  return (
    <button
      type="button"
      className={done ? 'copy done' : 'copy'}
      onClick={copy}
      aria-label={done ? 'Copied' : label}
      title={label}
    >
      <Glyph name={done ? 'succeeded' : 'copy'} />
    </button>
  )
}

/** Returns whether it was copied: the clipboard exists on https and loopback alone. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}
