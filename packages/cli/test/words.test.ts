import { expect, test } from 'vitest'
import { listEnd } from '../src/frame/list-end.ts'
import { isAscii } from '../src/frame/terminal.ts'
import { parseRunId } from '../src/typed/ids.ts'
import { parseTime } from '../src/typed/parse-time.ts'
import { ago, countdown, long, moment, shortDuration } from '../src/words/ages.ts'
import { boundedText, countText, plural, rateText } from '../src/words/counts.ts'
import { safeText } from '../src/words/safe.ts'
import { sparkline } from '../src/words/sparkline.ts'
import { runStateText } from '../src/words/states.ts'
import { cut, widthOf } from '../src/words/style.ts'
import { table, type Column } from '../src/words/table.ts'
import { wrapped } from '../src/words/wrap.ts'

const plain = { columns: 0, colour: false, ascii: false }
const now = new Date(2026, 4, 2, 13, 2, 11)

test.each([
  [0, '0 ms'],
  [0.4, '< 1 ms'],
  [340, '340 ms'],
  [1_240, '1.2 s'],
  [48_000, '48 s'],
  [240_000, '4 min'],
  [7_200_000, '2 h'],
  [259_200_000, '3 d'],
])('%d ms are %s in a table', (ms, text) => expect(shortDuration(ms)).toBe(text))

test.each([
  [48_000, '48 s'],
  [200_000, '3 min 20 s'],
  [7_860_000, '2 h 11 min'],
  [273_600_000, '3 d 4 h'],
])('%d ms are %s in a sentence', (ms, text) => expect(long(ms)).toBe(text))

test('a time of today is shown without its date, an older one with it', () => {
  expect(moment(new Date(2026, 4, 2, 9, 5, 1), now)).toBe('09:05:01')
  expect(moment(new Date(2026, 4, 1, 9, 5), now)).toBe('yesterday 09:05')
  expect(moment(new Date(2026, 3, 1, 9, 5), now)).toBe('2026-04-01 09:05')
  expect(ago(new Date(2026, 4, 2, 13, 6, 11), now)).toBe('in 4 min')
  expect(countdown(81_000)).toBe('1:21')
})

test('a time is read by the clock here, or refused with the ways to write one', () => {
  expect(parseTime('yesterday 09:05', now)).toEqual(new Date(2026, 4, 1, 9, 5))
  expect(() => parseTime('5w', now)).toThrow(
    expect.objectContaining({ code: 'TIME_INVALID', fix: expect.stringContaining('90s') as string }),
  )
})

test.each(['123', '#123', ' 123 ', 'run 123', 'http://127.0.0.1:9000/runs/123', 'https://q.example/runs/123?tab=logs'])(
  'a run is found by %s',
  (text) => expect(parseRunId(text)).toBe('123'),
)

test.each(['abc', '0', '-1', '99999999999999999999', 'http://127.0.0.1/nodes/123'])(
  '"%s" is refused as the id of a run',
  (text) => expect(() => parseRunId(text)).toThrow(expect.objectContaining({ code: 'RUN_ID_INVALID' })),
)

test('numbers are grouped, and a count that stopped says so', () => {
  expect(countText(1_234_567)).toBe('1 234 567')
  expect(boundedText({ count: 10_000, atLeast: true })).toBe('10 000+')
  expect(plural(1, 'run')).toBe('1 run')
  expect(plural({ count: 1, atLeast: true }, 'run')).toBe('1+ runs')
  expect([rateText(0), rateText(0.02), rateText(40.14), rateText(1_234), rateText(null)]).toEqual([
    '0',
    '0.02',
    '40.1',
    '1 234',
    '',
  ])
})

test('a list ends with how much was shown, how far it looked back, and the command that continues', () => {
  expect(
    listEnd({
      shown: 50,
      noun: 'run',
      of: { count: 10_000, atLeast: true },
      order: 'newest first',
      lookedBackTo: new Date(Date.now() - 60_000),
      next: 'q runs --before 88121',
    }),
  ).toMatch(/^50 of 10 000\+ runs shown, newest first; looked back to .*\. Next: q runs --before 88121$/)
  expect(listEnd({ shown: 1, noun: 'recovery', order: 'newest first' })).toBe('1 recovery shown, newest first.')
})

interface Row {
  readonly name: string
  readonly note: string
}
const columns: readonly Column<Row>[] = [
  { heading: 'NAME', cell: ({ name }) => name, shrink: 6 },
  { heading: 'NUMBER', cell: () => '12', align: 'right', drop: 2 },
  { heading: 'NOTE', cell: ({ note }) => note, shrink: 8, drop: 1 },
]
const rows: readonly Row[] = [
  { name: 'a', note: 'short' },
  { name: 'a very long name of a task', note: 'a note that goes on and on, far beyond any terminal' },
  { name: '画像の縮小', note: 'wide\n\u001B[2Jcharacters' },
]

test.each([20, 40, 60, 80, 120])('a table in a terminal of %d columns has no longer line', (width) => {
  for (const line of table({ ...plain, columns: width }, columns, rows).split('\n'))
    expect(widthOf(line)).toBeLessThanOrEqual(width)
})

test('a table that does not fit leaves out the columns that matter least', () => {
  const heading = (width: number) => table({ ...plain, columns: width }, columns, rows).split('\n')[0]
  expect(heading(80)).toMatch(/NAME +NUMBER +NOTE/)
  expect(heading(20)).toMatch(/^NAME +NOTE$/)
  expect(heading(12)).toBe('NAME')
})

test('a table without a terminal is not cut, and control characters of users are not printed', () => {
  const text = table(plain, columns, rows)
  expect(text).toContain('far beyond any terminal')
  expect(text).toContain('wide [2Jcharacters')
  expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
})

test('only our own colours reach a terminal', () => {
  const text = '\u001B[31mred\u001B[39m \u001B[2J\u001B]0;title\u0007\u009B31m'
  expect(safeText(text, { colour: true })).toBe('\u001B[31mred\u001B[39m  [2J ]0;title 31m')
  expect(safeText(text, { colour: false })).not.toMatch(/\p{Cc}/u)
})

test('a state is a glyph and a word, in ASCII too', () => {
  expect(runStateText(plain, { status: 'PENDING', waitingFor: 'time' })).toBe('◔ PENDING time')
  expect(runStateText({ ...plain, ascii: true }, { status: 'RUNNING', stopping: true })).toBe('> RUNNING stopping')
  expect(isAscii({ LANG: 'C' })).toBe(true)
  expect(isAscii({ LANG: 'de_DE.UTF-8' })).toBe(false)
  expect(isAscii({ LANG: 'C', Q_ASCII: '0' })).toBe(false)
})

test('text is cut by columns and not by characters', () => {
  expect(cut('画像の縮小', 5, plain)).toBe('画像…')
  expect(cut('short', 5, plain)).toBe('short')
})

test('a peak survives when a line of bars is too short for all values', () => {
  const values = Array.from({ length: 100 }, (_, index) => (index === 50 ? 9 : 0))
  expect(sparkline(plain, values, { width: 10 })).toBe('▁▁▁▁▁█▁▁▁▁')
  expect(sparkline({ ascii: true }, [0, null, 4], { width: 10 })).toBe('_ #')
})

test('sentences are broken at spaces', () => {
  expect(wrapped('one two three four five six', 20)).toEqual(['one two three four', 'five six'])
})
