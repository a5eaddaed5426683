/** Times as people write them, on the page and on the command line. */
import { expect, test } from 'vitest'
import { timeOf } from '../src/client/time-text.ts'

const now = new Date(2026, 10, 18, 14, 0).getTime()

test.each([
  ['now', new Date(now)],
  ['today', new Date(2026, 10, 18)],
  [' Yesterday ', new Date(2026, 10, 17)],
  ['yesterday 15:00', new Date(2026, 10, 17, 15, 0)],
  ['yesterday 23:59:59', new Date(2026, 10, 17, 23, 59, 59)],
  ['13:02', new Date(2026, 10, 18, 13, 2)],
  ['13:02:07', new Date(2026, 10, 18, 13, 2, 7)],
  ['0:00', new Date(2026, 10, 18)],
  ['500ms', new Date(now - 500)],
  ['90s', new Date(now - 90_000)],
  ['5min', new Date(now - 300_000)],
  ['1.5h', new Date(now - 5_400_000)],
  ['2h ago', new Date(now - 7_200_000)],
  ['3 d', new Date(now - 3 * 86_400_000)],
  ['3650d', new Date(now - 3_650 * 86_400_000)],
  ['2026-05-01', new Date(2026, 4, 1)],
  ['2026-05-01 13:02', new Date(2026, 4, 1, 13, 2)],
  ['2026-05-01T13:02', new Date(2026, 4, 1, 13, 2)],
  ['2026-05-01T13:02:00Z', new Date('2026-05-01T13:02:00Z')],
  ['2026-05-01 13:02:00.25+02', new Date('2026-05-01T11:02:00.250Z')],
  ['2026-05-01T13:02:00.250+02:00', new Date('2026-05-01T11:02:00.250Z')],
  ['2028-02-29', new Date(2028, 1, 29)],
])('"%s" is a time', (text, at) => expect(timeOf(text, now)).toEqual(at))

test('a time of day that is still to come is the one of yesterday', () => {
  expect(timeOf('15:00', now)).toEqual(new Date(2026, 10, 17, 15, 0))
})

test.each(['', '12', '1w', 'soon', 'tomorrow', '25 parsecs', '3651d', '1h30m', '25:00', '13:61', '2026-', '2026-5-1'])(
  '"%s" is not a time',
  (text) => expect(timeOf(text, now)).toBeUndefined(),
)

test.each(['2026-13-01', '2026-02-30', '2027-02-29T10:00', '2026-04-31T10:00:00Z', '2026-05-01T25:00'])(
  '%s is on no calendar, and not the day after',
  (text) => expect(timeOf(text, now)).toBeUndefined(),
)
