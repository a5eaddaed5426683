/** Tasks that are steps of workflows. What is called broken makes its task fail. */
import type { MissingResult } from '@q/client'
import { task } from '@q/task'

export const split = task(({ text }: { text: string }) => ({ words: text.split(' ') }))
export const upper = task({ onCrash: 'retry' }, ({ text }: { text: string }) => ({ text: usable(text).toUpperCase() }))
export const join = task(({ texts }: { texts: { text: string }[] }) => texts.map(({ text }) => text).join('+'))
export const tell = task(({ texts }: { texts: ({ text: string } | MissingResult)[] }) => ({
  received: texts.map((one) => ('text' in one ? one.text : one.code)),
}))
export const undo = task(({ text }: { text: string }) => ({ undone: text }))
export const fragile = task(({ text }: { text: string }) => ({ text }))

function usable(text: string): string {
  if (text.includes('broken')) throw new Error(`${text} is broken`)
  return text
}
