import { describe, expect, test } from 'vitest'
import {
  apiFilter,
  apiQuery,
  cliOptions,
  parseToken,
  searchWith,
  tokensIn,
  withToken,
} from '../src/pages/runs/filter.ts'
import { timeOf } from '../src/pages/runs/time-text.ts'
import { viewNamed } from '../src/pages/runs/views.ts'

const now = new Date(2026, 10, 18, 14, 32, 10).getTime()

describe('the filter of runs', () => {
  test('reads a token in each way people write it', () => {
    const task = { key: 'task', value: 'resize' }
    expect(['task resize', 'task:resize', 'task=resize', ' Task : resize '].map(parseToken)).toEqual([
      task,
      task,
      task,
      task,
    ])
  })

  test('reads the name of a state as a state', () => {
    expect(parseToken('Failed')).toEqual({ key: 'status', value: 'failed' })
  })

  test('reads a member of the payload with its comparison', () => {
    expect(parseToken('payload.url~cdn.internal')).toEqual({ key: 'payload', value: 'url~cdn.internal' })
    expect(parseToken('payload.id=5')).toEqual({ key: 'payload', value: 'id=5' })
  })

  test('does not read a text without a known key as a token', () => {
    expect(['', 'colour red', 'task', '<img src=x>'].map(parseToken)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  test('keeps several states, and one value of everything else', () => {
    const tokens = withToken(withToken([], { key: 'status', value: 'failed' }), { key: 'status', value: 'expired' })
    expect(withToken(withToken(tokens, { key: 'task', value: 'a' }), { key: 'task', value: 'b' })).toEqual([
      { key: 'status', value: 'failed' },
      { key: 'status', value: 'expired' },
      { key: 'task', value: 'b' },
    ])
  })

  test('is part of the address, and keeps the rest of it', () => {
    const tokens = [{ key: 'task' as const, value: 'a b&c' }]
    const search = searchWith(new URLSearchParams('view=failed&task=old'), tokens)
    expect(search.toString()).toBe('view=failed&task=a+b%26c')
    expect(tokensIn(search)).toEqual(tokens)
  })

  test('becomes the query of the API', () => {
    const tokens = tokensIn(
      new URLSearchParams('status=failed&status=expired&key=k&error=9f3a&since=1h&before=nonsense'),
    )
    const filter = apiFilter(tokens, now)
    expect(filter).toEqual({
      status: ['failed', 'expired'],
      uniqueKey: 'k',
      fingerprint: '9f3a',
      since: new Date(now - 3_600_000).toISOString(),
    })
    expect(apiQuery({ status: ['failed', 'expired'] }).toString()).toBe('status=failed%2Cexpired')
  })

  test('becomes options of the command line that a shell reads back', () => {
    expect(cliOptions([{ key: 'payload', value: "name~it's" }])).toBe(String.raw`--payload 'name~it'\''s'`)
    const tokens = [
      { key: 'status', value: 'failed' },
      { key: 'before', value: '13:02' },
      { key: 'status', value: 'expired' },
      { key: 'error', value: '9f3a' },
    ] as const
    expect(cliOptions(tokens)).toBe('--until 13:02 --errors 9f3a --status failed,expired')
  })
})

describe('a time in words', () => {
  test('is read from a clock time, the last one that has passed', () => {
    expect(timeOf('13:02', now)).toEqual(new Date(2026, 10, 18, 13, 2))
    expect(timeOf('15:00', now)).toEqual(new Date(2026, 10, 17, 15, 0))
    expect(timeOf('25:00', now)).toBeUndefined()
  })

  test('is read from a length, a day or an ISO date', () => {
    expect(timeOf('90s', now)).toEqual(new Date(now - 90_000))
    expect(timeOf('yesterday', now)).toEqual(new Date(2026, 10, 17))
    expect(timeOf('2026-11-01', now)).toEqual(new Date(2026, 10, 1))
  })
})

test('a view without a name is the newest runs; an unknown name is no view', () => {
  expect(viewNamed(null)?.label).toBe('Newest')
  expect(viewNamed('review')?.label).toBe('To review')
  expect(viewNamed('nonsense')).toBeUndefined()
})
