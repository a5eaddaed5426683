/** Breaks text into lines. Pure. */
import { widthOf } from './style.ts'

/** Without a width it stays one line; a word that is too long for a line stays whole. */
export function wrapped(text: string, columns: number): string[] {
  if (columns < 20) return [text]
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (widthOf(longer) <= columns || line === '') line = longer
    else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line]
}

/** Puts parts side by side, on as few lines as the width allows, without splitting a part. */
export function packed(parts: readonly string[], columns: number): string[] {
  const lines: string[] = []
  for (const part of parts) {
    const longer = `${lines.at(-1) ?? ''}   ${part}`
    if (lines.length > 0 && (columns === 0 || widthOf(longer) <= columns)) lines.splice(-1, 1, longer)
    else lines.push(part)
  }
  return lines
}
