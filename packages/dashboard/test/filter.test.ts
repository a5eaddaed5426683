import { describe, expect, test } from 'vitest'
import { timeOf } from '@q/server/client'
import { stateNames, statesNamed } from '@q/store'
import {
  apiFilter,
  apiQuery,
  cliOptions,
  parseToken,
  problemOfToken,
  searchWith,
  statesOfName,
  tokensIn,
  withToken,
} from '../src/pages/runs/filter.ts'
import { suggestionsFor } from '../src/pages/runs/suggestions.ts'
import { viewNamed } from '../src/pages/runs/views.ts'

const now = new Date(2026, 10, 18, 14, 32, 10).getTime()

describe('the filter of runs', () => {
  test('reads a token in each way people write it', () => {
    const task = { key: 'task', value: 'resize' }
    expect(parseToken('ended-since:13:02')).toEqual({ key: 'ended-since', value: '13:02' })
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

  test('knows every name of a state that the API reads, in upper and lower case', () => {
    for (const known of [statesOfName, (name: string) => statesOfName(name.toUpperCase())])
      expect(stateNames.map((name) => [name, known(name)])).toEqual(
        stateNames.map((name) => [name, statesNamed([name])]),
      )
  })

  test('refuses the name of a state with a typo, and says which there are', () => {
    expect(problemOfToken({ key: 'status', value: 'FAILED' })).toBeUndefined()
    expect(problemOfToken({ key: 'status', value: 'faild' })).toMatchObject({
      what: '“faild” is not a state.',
      fix: expect.stringContaining('failed') as string,
    })
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
    const search = 'status=failed&status=expired&key=k&error=9f3a&since=1h&ended-since=13:02&ended-before=now'
    expect(apiFilter(tokensIn(new URLSearchParams(search)), now)).toEqual({
      status: ['failed', 'expired'],
      uniqueKey: 'k',
      fingerprint: '9f3a',
      since: new Date(now - 3_600_000).toISOString(),
      endedSince: new Date(2026, 10, 18, 13, 2).toISOString(),
      endedBefore: new Date(now).toISOString(),
    })
    expect(apiQuery({ status: ['failed', 'expired'] }).toString()).toBe('status=failed%2Cexpired')
  })

  test('is no filter at all while one of its times cannot be read, and the token says why', () => {
    for (const key of ['since', 'before', 'ended-since', 'ended-before'] as const) {
      const wrong = { key, value: '1w' }
      expect(apiFilter([{ key: 'task', value: 'x' }, wrong], now)).toBeUndefined()
      expect(problemOfToken(wrong)).toMatchObject({ short: 'not a time', what: '“1w” is not a time.' })
      expect(problemOfToken({ key, value: '2h ago' })).toBeUndefined()
    }
    expect(problemOfToken({ key: 'task', value: '1w' })).toBeUndefined()
  })

  test('becomes options of the command line that a shell reads back', () => {
    expect(cliOptions({ payload: "name~it's" })).toBe(String.raw`--payload 'name~it'\''s'`)
    const search = 'status=failed&before=13:02&status=expired&error=9f3a&ended-since=2h ago&ended-before=5min&key=k'
    const filter = apiFilter(tokensIn(new URLSearchParams(search)), now)
    const times = [new Date(2026, 10, 18, 13, 2), new Date(now - 7_200_000), new Date(now - 300_000)]
    const [until, endedSince, endedUntil] = times.map((time) => time.toISOString())
    expect(cliOptions(filter!)).toBe(
      `--status failed,expired --until ${until} --errors 9f3a --ended-since ${endedSince} --ended-until ${endedUntil} --key k`,
    )
    expect([until, endedSince, endedUntil].map((text) => timeOf(text!, Date.now()))).toEqual(times)
  })

  test('suggests every key, and times for each key of a time', () => {
    const known = { node: [], queue: [], task: [] }
    expect(suggestionsFor('', known).map(({ label }) => label)).toContain('schedule')
    expect(suggestionsFor('ended', known).map(({ typed }) => typed)).toEqual(['ended-since ', 'ended-before '])
    expect(suggestionsFor('ended-since yes', known).map(({ token }) => token)).toEqual([
      { key: 'ended-since', value: 'yesterday' },
    ])
  })
})

test('a view without a name is the newest runs; an unknown name is no view', () => {
  expect(viewNamed(null)?.label).toBe('Newest')
  expect(viewNamed('review')?.label).toBe('To review')
  expect(viewNamed('nonsense')).toBeUndefined()
})
