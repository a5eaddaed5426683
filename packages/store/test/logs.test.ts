import { expect, test } from 'vitest'
import { logLimits, type Lease, type LogLine, type LogCursor, type RunId } from '@q/store'
import { by, fixture, leaseOf } from './fixture.ts'

const { store, db, enqueue, claimOne } = await fixture()

function line(lease: Lease, lineNo: number, more: Partial<LogLine> = {}): LogLine {
  return { lease, lineNo, level: 30, line: `line ${lineNo}`, ageMs: 0, ...more }
}

async function lines(runId: RunId): Promise<string[]> {
  return (await store.readTaskLogs(runId, { limit: 1_000 })).lines.map((logged) => logged.line)
}

async function events(runId: RunId) {
  return db.selectFrom('q.task_event').select(['fence', 'kind']).where('run_id', '=', runId).orderBy('fence').execute()
}

/** A run that was claimed, released and claimed again. */
async function twiceClaimed(task: string): Promise<{ old: Lease; current: Lease }> {
  await enqueue(task)
  const old = leaseOf(await claimOne(task))
  await store.releaseTaskRuns([old])
  return { old, current: leaseOf(await claimOne(task)) }
}

test('lines of many runs are written together, each to its run, with level, facts and the time at which they were logged', async () => {
  await enqueue('together', { count: 2 })
  const [one, two] = [leaseOf(await claimOne('together')), leaseOf(await claimOne('together'))]
  const answers = await store.appendTaskLogs([
    line(one, 1, { level: 40, facts: { frame: 7 }, ageMs: 60_000 }),
    line(two, 1),
    line(one, 2),
  ])
  expect(answers).toEqual([
    { lease: one, answer: 'ok' },
    { lease: two, answer: 'ok' },
  ])
  const page = await store.readTaskLogs(one.runId)
  expect(page).toMatchObject({
    lines: [
      { fence: 1, lineNo: 1, level: 40, line: 'line 1', facts: { frame: 7 } },
      { fence: 1, lineNo: 2, level: 30, line: 'line 2', facts: null },
    ],
    next: undefined,
  })
  expect(page.lines[1]!.at.getTime() - page.lines[0]!.at.getTime()).toBeGreaterThanOrEqual(60_000)
  expect(await lines(two.runId)).toEqual(['line 1'])
})

test('a line that is sent twice is stored once, even within one batch', async () => {
  await enqueue('sent-twice')
  const lease = leaseOf(await claimOne('sent-twice'))
  await store.appendTaskLogs([line(lease, 1), line(lease, 1), line(lease, 2)])
  await store.appendTaskLogs([line(lease, 2, { line: 'another text' }), line(lease, 3)])
  expect(await lines(lease.runId)).toEqual(['line 1', 'line 2', 'line 3'])
})

test('a lost lease stores nothing, gets that response, and leaves one event, however often it tries', async () => {
  const { old, current } = await twiceClaimed('lost')
  for (let round = 0; round < 3; round++) {
    const answers = await store.appendTaskLogs([line(old, round + 1), line(current, round + 1)])
    expect(answers.map(({ answer }) => answer)).toEqual(['lost', 'ok'])
  }
  const { lines: written } = await store.readTaskLogs(old.runId)
  expect(written.map(({ fence }) => fence)).toEqual([current.fence, current.fence, current.fence])
  expect(await events(old.runId)).toEqual([{ fence: old.fence, kind: 'refused-log' }])
})

test('lines that a holder logged before the end of its run are stored even if they arrive after it', async () => {
  await enqueue('last-words')
  const lease = leaseOf(await claimOne('last-words'))
  await store.settleTaskRuns([{ lease, outcome: { status: 'SUCCEEDED', result: '1' }, by }])
  expect(await store.appendTaskLogs([line(lease, 1, { line: 'done' })])).toEqual([{ lease, answer: 'ok' }])
  expect(await lines(lease.runId)).toEqual(['done'])
  await store.retryTaskRun(lease.runId)
  expect(await store.appendTaskLogs([line(lease, 2)])).toEqual([{ lease, answer: 'lost' }])
})

test('a holder that was reaped can no longer store lines', async () => {
  const [id] = await enqueue('reaped')
  const lease = leaseOf(await claimOne('reaped', 'never-alive'))
  expect((await store.reap({ by: 'reaper' })).ids).toContain(id)
  expect(await store.appendTaskLogs([line(lease, 1)])).toEqual([{ lease, answer: 'lost' }])
  expect(await lines(lease.runId)).toEqual([])
})

test('leases that never existed leave no event', async () => {
  const [id] = await enqueue('forged')
  const forged = [
    { runId: id!, fence: 99 },
    { runId: id!, fence: 0 },
    { runId: '987654321' as RunId, fence: 1 },
  ]
  const answers = await store.appendTaskLogs(forged.map((lease) => line(lease, 1)))
  expect(answers.map(({ answer }) => answer)).toEqual(['lost', 'lost', 'lost'])
  expect(await events(id!)).toEqual([])
})

test('the number of lines per claim is limited', async () => {
  await enqueue('talkative')
  const lease = leaseOf(await claimOne('talkative'))
  const last = logLimits.linesMax
  const numbers = [-1, 0, 0.5, Number.NaN, 1, last - 1, last, last + 1, 2 ** 40]
  expect(await store.appendTaskLogs(numbers.map((number) => line(lease, number)))).toEqual([{ lease, answer: 'ok' }])
  expect((await store.readTaskLogs(lease.runId)).lines.map(({ lineNo }) => lineNo)).toEqual([1, last - 1, last])
})

test.each<[string, Partial<LogLine>, { line?: unknown; facts?: unknown; level?: number }]>([
  ['NUL and half a character', { line: 'a\0b\uD800' }, { line: 'a\uFFFDb\uFFFD' }],
  ['a line that is too long', { line: 'x'.repeat(20_000) }, { line: `${'x'.repeat(8_192)}…` }],
  ['one of wide characters', { line: '😀'.repeat(5_000) }, { line: `${'😀'.repeat(2_048)}…` }],
  ['facts with NaN and NUL', { facts: { a: Number.NaN, b: '\0' } }, { facts: { a: null, b: '\uFFFD' } }],
  [
    'a bigint in facts, with all its digits,',
    { facts: { big: 2n ** 64n } },
    { facts: { big: '18446744073709551616' } },
  ],
  [
    'facts that are no JSON',
    { facts: { map: new Map() } },
    { facts: { leftOut: '/map is an instance of Map, whose contents JSON does not show' } },
  ],
  ['facts that contain themselves', { facts: cycle() }, { facts: { leftOut: '/self contains itself' } }],
  ['facts that are too large', { facts: 'x'.repeat(9_000) }, { facts: { leftOut: 'more than 8192 bytes' } }],
  ['a level that is none', { level: Number.NaN }, { level: 30 }],
  ['an age that is none', { ageMs: Number.NaN }, {}],
])('%s is still logged', async (_, strange, expected) => {
  await enqueue('strange')
  const lease = leaseOf(await claimOne('strange'))
  expect(await store.appendTaskLogs([line(lease, 1, strange), line(lease, 2)])).toEqual([{ lease, answer: 'ok' }])
  expect((await store.readTaskLogs(lease.runId)).lines).toMatchObject([expected, { line: 'line 2' }])
})

function cycle(): unknown {
  const self: Record<string, unknown> = {}
  self['self'] = self
  return self
}

test('pages neither skip nor repeat, across claims, and a follower continues after the last line', async () => {
  await enqueue('pages')
  const old = leaseOf(await claimOne('pages'))
  await store.appendTaskLogs(Array.from({ length: 7 }, (_, index) => line(old, index + 1)))
  await store.releaseTaskRuns([old])
  const current = leaseOf(await claimOne('pages'))
  await store.appendTaskLogs(Array.from({ length: 2_500 }, (_, index) => line(current, index + 1)))
  const seen: LogCursor[] = []
  let after: LogCursor | undefined
  do {
    const page = await store.readTaskLogs(old.runId, { limit: 5 + seen.length, ...(after !== undefined && { after }) })
    seen.push(...page.lines.map(({ fence, lineNo }) => ({ fence, lineNo })))
    after = page.next
  } while (after !== undefined)
  expect(seen).toEqual([
    ...Array.from({ length: 7 }, (_, index) => ({ fence: old.fence, lineNo: index + 1 })),
    ...Array.from({ length: 2_500 }, (_, index) => ({ fence: current.fence, lineNo: index + 1 })),
  ])
  const last = seen.at(-1)!
  expect(await store.readTaskLogs(old.runId, { after: last })).toEqual({ lines: [], next: undefined })
  await store.appendTaskLogs([line(current, 2_501)])
  expect((await store.readTaskLogs(old.runId, { after: last })).lines.map(({ lineNo }) => lineNo)).toEqual([2_501])
})

test('without lines no statement is sent', async () => {
  expect(await store.appendTaskLogs([])).toEqual([])
})
