/**
 * Short answers to actions, spoken politely. A failure has its reason and its fix, and stays until it is closed. While a modal
 * dialog is open, messages are drawn in it: everything outside it is covered, and neither clickable nor spoken.
 */
import { useEffect, useSyncExternalStore, type ReactNode, type RefObject } from 'react'
import { createPortal } from 'react-dom'
import { visibleText } from '../words/visible-text.ts'
import { Glyph } from './glyph.tsx'

interface Toast {
  readonly id: number
  readonly good: boolean
  readonly text: string
  readonly why: string | null
  readonly fix: string | null
}

interface Options {
  readonly good?: boolean
  readonly why?: string | null
  readonly fix?: string | null
}

const shownMs = 6_000
let toasts: readonly Toast[] = []
/** The open dialogs; the last one is on top. */
let hosts: readonly HTMLElement[] = []
let lastId = 0
const listeners = new Set<() => void>()

export function say(text: string, { good = true, why = null, fix = null }: Options = {}): void {
  const toast = { id: ++lastId, good, text, why, fix }
  change([...toasts.slice(-3), toast])
  if (toast.good) setTimeout(() => close(toast.id), shownMs)
}

function close(id: number): void {
  change(toasts.filter((toast) => toast.id !== id))
}

function change(next: readonly Toast[]): void {
  toasts = next
  notify()
}

function notify(): void {
  for (const listener of listeners) listener()
}

/** Draws the messages in this dialog while it is open. */
export function useToastHost(ref: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const host = ref.current
    if (host === null) return
    hosts = [...hosts, host]
    notify()
    return () => {
      hosts = hosts.filter((other) => other !== host)
      notify()
    }
  }, [ref])
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function Toasts(): ReactNode {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  const host = useSyncExternalStore(subscribe, () => hosts.at(-1))
  const list = (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map((toast) => (
        <Message key={toast.id} toast={toast} />
      ))}
    </div>
  )
  return host === undefined ? list : createPortal(list, host)
}

function Message({ toast: { id, good, text, why, fix } }: { readonly toast: Toast }): ReactNode {
  return (
    <div className={`toast ${good ? 'succeeded' : 'failed'}`}>
      <Glyph name={good ? 'succeeded' : 'failed'} />
      <div>
        <p>{visibleText(text)}</p>
        {why === null ? null : <p className="soft">{visibleText(why)}</p>}
        {fix === null ? null : <p className="mute">{visibleText(fix)}</p>}
      </div>
      <button type="button" className="copy" aria-label="Close this message" onClick={() => close(id)}>
        <Glyph name="close" />
      </button>
    </div>
  )
}
