/** The results of the checks, worst first. Pure. */
import type { CheckResult, Level } from '../doctor/check.ts'
import type { Look } from '../frame/terminal.ts'
import { shortDuration } from '../words/ages.ts'
import { plural } from '../words/counts.ts'
import { levelGlyph } from '../words/states.ts'
import { styled } from '../words/style.ts'
import { packed, wrapped } from '../words/wrap.ts'

const order: readonly Level[] = ['fail', 'warn', 'note', 'skipped', 'ok']

export function doctorScreen(
  look: Look,
  results: readonly CheckResult[],
  { tookMs, all }: { readonly tookMs: number; readonly all: boolean },
): string {
  const shown = results
    .filter(({ level }) => all || (level !== 'ok' && level !== 'skipped'))
    .toSorted((a, b) => order.indexOf(a.level) - order.indexOf(b.level))
  const width = Math.max(0, ...shown.map(({ id }) => id.length))
  return [...shown.flatMap((result) => lines(look, result, width)), summary(look, results, tookMs)].join('\n')
}

const roomMin = 30

function lines(look: Look, { id, level, what, why, fix }: CheckResult, width: number): string[] {
  // In a narrow terminal the sentences stand under the name of the check.
  const isNarrow = look.columns > 0 && look.columns < width + 5 + roomMin
  const indent = ' '.repeat(isNarrow ? 3 : width + 5)
  const room = look.columns - indent.length
  const [first = '', ...rest] = isNarrow ? ['', ...wrapped(what, room)] : wrapped(what, room)
  return [
    ` ${levelGlyph(look, level)} ${styled(look, 'bold', isNarrow ? id : id.padEnd(width))}${first === '' ? '' : `  ${first}`}`,
    ...rest.map((line) => `${indent}${line}`),
    ...(why === '' ? [] : wrapped(why, room)).map((line) => `${indent}${styled(look, 'dim', line)}`),
    ...(fix === '' ? [] : wrapped(fix, room - 5)).map(
      (line, index) => `${indent}${index === 0 ? styled(look, 'dim', 'fix  ') : '     '}${styled(look, 'cyan', line)}`,
    ),
  ]
}

function summary(look: Look, results: readonly CheckResult[], tookMs: number): string {
  const of = (level: Level) => results.filter((result) => result.level === level).length
  const parts = [
    `${of('ok')} ok`,
    ...(of('skipped') > 0 ? [`${of('skipped')} skipped`] : []),
    ...(of('note') > 0 ? [plural(of('note'), 'note')] : []),
    ...(of('warn') > 0 ? [styled(look, 'yellow', plural(of('warn'), 'warning'))] : []),
    ...(of('fail') > 0 ? [styled(look, 'red', plural(of('fail'), 'failure'))] : []),
  ]
  const text = `${plural(results.length, 'check')}: ${parts.join(', ')}`
  return packed(
    [text, `(${shortDuration(tookMs)})`].flatMap((part) => wrapped(part, look.columns)),
    look.columns,
  ).join('\n')
}
