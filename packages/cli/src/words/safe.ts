/**
 * Removes control characters from text for a terminal: those in users' text could move the cursor or hide earlier
 * output. Only our own colour sequences pass, and only if the terminal has colours. Pure.
 */
import { oneLine, printable } from '@q/schema'
import type { Look } from '../frame/terminal.ts'

/** Begins a sequence for the terminal. */
export const escape: string = String.fromCodePoint(0x1b)

/** The codes that `styled` writes: bold, dim, inverse, colours, and their ends. */
const ownColour = new RegExp(`(${escape}\\[(?:1|2|7|22|27|3[1-6]|39|90)m)`)

export function safeText(text: string, look: Pick<Look, 'colour'>): string {
  return look.colour ? betweenColours(text, printable) : printable(text)
}

/** Does the same, and also replaces line breaks. */
export function safeLine(text: string, look: Pick<Look, 'colour'>): string {
  return look.colour ? betweenColours(text, oneLine) : oneLine(text)
}

function betweenColours(text: string, clean: (part: string) => string): string {
  return text
    .split(ownColour)
    .map((part, index) => (index % 2 === 1 ? part : clean(part)))
    .join('')
}
