import { pino } from 'pino'
import { stripVTControlCharacters } from 'node:util'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { RunnerEvent } from '@q/runner'
import type { RunId } from '@q/store'
import { errorMessage } from '../src/output/error-message.ts'
import { createLog, logObserver } from '../src/observers/log.ts'
import { createRedact, createRedactJson, redact } from '../src/output/redact.ts'

/** A log whose lines are kept, and a clock that the test sets. */
function reader(level: string) {
  const lines: Record<string, unknown>[] = []
  const clock = { nowMs: 0 }
  const log = pino({ level, base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  return { lines, clock, observe: logObserver(log, () => clock.nowMs) }
}

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
const failed = (loop: string, error: unknown): RunnerEvent => ({ type: 'loop-failed', loop, error, retryInMs: 100 })

test('a database outage of a minute is logged in a few lines for all loops, with the number of suppressed repeats', () => {
  const { lines, clock, observe } = reader('info')
  for (clock.nowMs = 0; clock.nowMs < 60_000; clock.nowMs += 1_000) {
    for (const loop of ['claim', 'promote', 'reap', 'session', 'prune']) observe(failed(loop, refused))
    observe({ type: 'beat-failed', consecutive: 1, error: refused, retryInMs: 1 })
  }
  expect(lines).toHaveLength(8)
  expect(lines.map(({ suppressed = 0 }) => suppressed)).toEqual([0, 0, 74, 14, 74, 14, 74, 14])
})

test('on a terminal a line shows no control characters of a task', () => {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  onTestFinished(() => written.mockRestore())
  createLog({ level: 'info', terminal: true }).info({ task: 'a\u009b31m' }, 'first\u001b[2J\nsecond')
  const text = stripVTControlCharacters(String(written.mock.calls[0]?.[0]))
  expect(text).toContain('first [2J\nsecond {"task":"a 31m"}')
})

test('another failure during an outage is logged, once for each loop', () => {
  const { lines, observe } = reader('info')
  const missing = Object.assign(new Error('relation does not exist'), { code: '42P01' })
  for (let round = 0; round < 3; round++) {
    for (const error of [refused, missing, new TypeError('x is undefined')]) {
      for (const loop of ['claim', 'prune']) observe(failed(loop, error))
    }
  }
  expect(lines).toHaveLength(1 + 2 + 2)
})

test('level debug suppresses nothing; other levels suppress only repeated failures', () => {
  const { lines, observe } = reader('debug')
  for (let round = 0; round < 3; round++) observe(failed('claim', refused))
  for (let round = 0; round < 3; round++) observe({ type: 'run-unfinished', error: refused })
  expect(lines).toHaveLength(6)
})

test.each([
  ['https://bot:hunter2-hunter2@host/x', 'https://bot:***@host/x'],
  ['https://ghp_hunter2@github.example/a/b', 'https://***@github.example/a/b'],
  ['GET /x?a=1&access_token=hunter2&b=2#c', 'GET /x?a=1&access_token=***&b=2#c'],
  ['Authorization: Bearer hunter2.hunter2', 'Authorization: Bearer ***'],
  ['{"api_key":"hun\\"ter2","n":1}', '{"api_key":"***","n":1}'],
  ["{ password: 'hunter2', n: 1 }", "{ password: '***', n: 1 }"],
  ['signed with hunter2-of-the-environment', 'signed with ***'],
  ['connecting with hunter@2-in-a-url', 'connecting with ***'],
  [
    'postgresql://user:password@host:5432/database, maxTokens: 512',
    'postgresql://user:password@host:5432/database, maxTokens: 512',
  ],
])('%s is printed without its secret', (text, printed) => {
  const env = { SIGNING_SECRET: 'hunter2-of-the-environment', DATABASE_URL: 'postgres://q:hunter%402-in-a-url@host/db' }
  expect(createRedact(env)(text)).toBe(printed)
})

test.each([
  ['{"ms":86400000,"text":"86400000 ms"}', '{"ms":86400000,"text":"*** ms"}'],
  ['{"https://u:hunter2@host":{"access_token":"hunter2"}}', '{"https://u:***@host":{"access_token":"***"}}'],
])('%s is still JSON without its secret', (json, printed) => {
  expect(createRedactJson(createRedact({ TOKEN_EXPIRY_MS: '86400000' }))(json)).toBe(printed)
})

test('redaction takes linear time, even for very long words', () => {
  const word = 'a'.repeat(100_000)
  const begunMs = performance.now()
  expect(redact(`${word} ${word}://u:hunter2@host`)).toBe(`${word} ${word}://u:***@host`)
  for (const part of ['token', '"token', "token:'", '?token=', 'Bearer ', 'https://'])
    expect(redact(part.repeat(20_000)).length).toBeGreaterThan(0)
  expect(performance.now() - begunMs).toBeLessThan(10_000)
})

test('a failed run is logged as a warning, with its code and the first frame in the code of its task', () => {
  const { lines, observe } = reader('info')
  const ended = { type: 'run-ended', runId: '7' as RunId, task: 'resize', tookMs: 5 } as const
  observe({ ...ended, status: 'FAILED', code: 'TASK_ERROR', detail: 'Error: no', at: 'src/tasks.ts:3:9' })
  observe({ ...ended, status: 'SUCCEEDED' })
  observe({ ...ended, status: 'CANCELLED', code: 'TASK_CANCELLED', detail: 'd' })
  expect(lines.map(({ level, msg, code, at }) => [level, msg, code, at])).toEqual([
    [40, 'run failed', 'TASK_ERROR', 'src/tasks.ts:3:9'],
    [30, 'run ended', undefined, undefined],
    [30, 'run ended', 'TASK_CANCELLED', undefined],
  ])
})

test.each(['53100', 'ENOSPC'])(
  'a full disk (%s) is logged as such, with a fix, once for all statements that it fails',
  (code) => {
    const { lines, observe } = reader('info')
    const full = Object.assign(new Error('could not extend file'), { code })
    for (const loop of ['claim', 'promote']) observe(failed(loop, full))
    observe({ type: 'settle-failed', error: full, retryInMs: 100 })
    observe({ type: 'beat-failed', consecutive: 1, error: full, retryInMs: 100 })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({ level: 50, msg: expect.stringMatching(/^no disk space left.*: free /) })
  },
)

test('the text of an error names its causes', () => {
  expect(errorMessage(new TypeError('fetch failed', { cause: refused }))).toBe(
    'fetch failed; caused by Error: connect ECONNREFUSED',
  )
  expect(errorMessage(new AggregateError([refused, new Error('b')]))).toBe('connect ECONNREFUSED; b')
})

test('a line of a task is in the log of its replica at its own level, with the run and its facts', () => {
  const { lines, observe } = reader('info')
  const line = { type: 'task-log', runId: '7' as RunId, task: 'resize' } as const
  observe({ ...line, level: 40, line: 'too large', facts: '{"width":9000}' })
  observe({ ...line, level: 20, line: 'not shown', facts: null })
  expect(lines).toEqual([
    { level: 40, time: expect.any(Number), runId: '7', task: 'resize', facts: { width: 9_000 }, msg: 'too large' },
  ])
})

test('the log line of a drain names the runs that it waits for, and how to end them', () => {
  const { lines, observe } = reader('info')
  const runs = Array.from({ length: 12 }, (_, index) => ({ runId: String(index) as RunId, task: 'resize' }))
  const command = { type: 'draining', drainMs: 25_000, onDeadline: 'by-task' } as const
  observe({ ...command, by: 'itself', running: 12, runs })
  observe({ ...command, by: 'ada', running: 1, runs: runs.slice(0, 1) })
  observe({ ...command, by: 'itself', running: 0, runs: [] })
  expect(lines[0]?.['waitsFor']).toEqual(runs.slice(0, 10).map(({ runId }) => `resize ${runId}`))
  expect(lines.map(({ msg }) => msg)).toEqual([
    'draining: waiting for runs to end; Ctrl-C or SIGTERM again stops them now',
    'draining: waiting for runs to end',
    'draining: no new runs',
  ])
})
