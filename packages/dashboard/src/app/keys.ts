/**
 * The keys of the page. A key is handled by the part of the page that was drawn last and knows it, so a list takes `j` while it is
 * shown. Nothing is handled while a person types or a dialog is open; `g` waits a second for the key that follows.
 */
import { useEffect, useRef } from 'react'

type KeyBindings = Readonly<Record<string, (event: KeyboardEvent) => void>>

/** The key that opens the palette together with K, as this machine calls it. */
export const modKey = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl'

const layers: { current: KeyBindings }[] = []
const followMs = 1_000
let prefix = ''
let prefixAt = 0

export function useKeys(keys: KeyBindings): void {
  const layer = useRef(keys)
  useEffect(() => {
    layer.current = keys
  })
  useEffect(() => {
    layers.push(layer)
    return () => void layers.splice(layers.indexOf(layer), 1)
  }, [])
}

/** Returns how to stop listening. */
export function listenToKeys(): () => void {
  const listen = (event: KeyboardEvent) => handle(event)
  document.addEventListener('keydown', listen)
  return () => document.removeEventListener('keydown', listen)
}

function handle(event: KeyboardEvent): void {
  if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') return call('mod+k', event)
  if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return
  if (isTyping(event.target) || document.querySelector('dialog[open]') !== null) return
  // A focused link or button keeps its own Enter.
  if (event.key === 'Enter' && isActedOn(event.target)) return
  const isFollowing = prefix !== '' && event.timeStamp - prefixAt < followMs
  const name = isFollowing ? `${prefix} ${event.key}` : event.key
  prefix = ''
  if (name === 'g') [prefix, prefixAt] = ['g', event.timeStamp]
  else call(name, event)
}

function call(name: string, event: KeyboardEvent): void {
  const layer = layers.findLast(({ current }) => name in current)
  if (layer === undefined) return
  event.preventDefault()
  // The cursor takes the place of the focus, so that Enter is for the row and not for what was clicked before.
  if (name === 'j' || name === 'k') blur()
  layer.current[name]?.(event)
}

function blur(): void {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
}

function isActedOn(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('a[href], button, summary, [role="link"]') !== null
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button'].includes(target.type)
  return target.isContentEditable || ['TEXTAREA', 'SELECT'].includes(target.tagName)
}
