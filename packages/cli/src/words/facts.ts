/** Named facts, one below the other: each sentence is wrapped beside its name. Pure. */
import type { Look } from '../frame/terminal.ts'
import { styled } from './style.ts'
import { wrapped } from './wrap.ts'

const nameWidth = 11

export function factLines(look: Look, facts: readonly (readonly [name: string, text: string])[]): string[] {
  return facts.flatMap(([name, text]) =>
    wrapped(text, look.columns - nameWidth).map((line, index) =>
      index === 0 ? `${styled(look, 'dim', name.padEnd(nameWidth - 1))} ${line}` : ' '.repeat(nameWidth) + line,
    ),
  )
}
