/** Shows the change between two texts, from the first differing line to the last, cut to a few lines. */
export function shortDiff(now: string, then: string, linesMax = 8): string {
  const [before, after] = [now.split('\n'), then.split('\n')]
  let head = 0
  while (head < Math.min(before.length, after.length) && before[head] === after[head]) head++
  let tail = 0
  const rest = Math.min(before.length, after.length) - head
  while (tail < rest && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  return [
    `  from line ${head + 1}:`,
    ...cut(before.slice(head, before.length - tail), '-', linesMax),
    ...cut(after.slice(head, after.length - tail), '+', linesMax),
  ].join('\n')
}

function cut(lines: readonly string[], sign: string, linesMax: number): string[] {
  const shown = lines.slice(0, linesMax).map((line) => `  ${sign} ${line}`)
  return lines.length > linesMax ? [...shown, `  ${sign} … ${lines.length - linesMax} more lines`] : shown
}
