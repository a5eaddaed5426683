/** Short answers to actions, spoken politely. A failure stays until it is closed. */
import { useSyncExternalStore, type ReactNode } from 'react'
import { Glyph } from './glyph.tsx'

interface Toast {
  readonly id: number
  readonly good: boolean
  readonly text: string
  readonly why: string | null
}

const shownMs = 6_000
let toasts: readonly Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()

export function say(text: string, options: { readonly good?: boolean; readonly why?: string | null } = {}): void {
  const toast = { id: ++lastId, good: options.good ?? true, text, why: options.why ?? null }
  change([...toasts.slice(-3), toast])
  if (toast.good) setTimeout(() => close(toast.id), shownMs)
}

function close(id: number): void {
  change(toasts.filter((toast) => toast.id !== id))
}

function change(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function Toasts(): ReactNode {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, good, text, why }) => (
        <div key={id} className={`toast ${good ? 'succeeded' : 'failed'}`}>
          <Glyph name={good ? 'succeeded' : 'failed'} />
          <p>
            {text}
            {why === null ? null : <span className="mute"> {why}</span>}
          </p>
          <button type="button" className="copy" aria-label="Close this message" onClick={() => close(id)}>
            <Glyph name="close" />
          </button>
        </div>
      ))}
    </div>
  )
}
