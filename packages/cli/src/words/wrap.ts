/** Text broken into lines at spaces. Pure. */
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
