/** Colours, where the terminal has them. */
import { styleText, stripVTControlCharacters } from 'node:util'
import type { Look } from '../frame/terminal.ts'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'cyan' | 'magenta' | 'gray' | 'inverse'

export function styled(look: Pick<Look, 'colour'>, style: Style, text: string): string {
  return look.colour && text !== '' ? styleText(style, text, { validateStream: false }) : text
}

/** The number of columns that a text takes. */
export function widthOf(text: string): number {
  const plain = stripVTControlCharacters(text)
  // Plain ASCII is the usual case; of the rest, characters of East Asian scripts and pictures take two columns.
  if (/^[\u0020-\u007E]*$/.test(plain)) return plain.length
  let width = 0
  for (const { segment } of segments.segment(plain)) width += isWide(segment) ? 2 : 1
  return width
}

const segments = new Intl.Segmenter()

const wide =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|\p{Emoji_Presentation}/u

function isWide(segment: string): boolean {
  return wide.test(segment)
}

/** The text cut to a number of columns, with an ellipsis in place of the rest. */
export function cut(text: string, columns: number, look: Pick<Look, 'ascii'>): string {
  if (widthOf(text) <= columns) return text
  const ellipsis = look.ascii ? '.' : '…'
  let kept = ''
  let width = 0
  for (const { segment } of segments.segment(text)) {
    const next = isWide(segment) ? 2 : 1
    if (width + next > columns - 1) break
    kept += segment
    width += next
  }
  return columns < 1 ? '' : kept.trimEnd() + ellipsis
}
