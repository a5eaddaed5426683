/** Replicas that report recoveries to a stand-in for GitHub: one comment each, whichever replica dies and whatever GitHub answers. */
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { startGithubServer } from '../../../destinations/test/github-server.ts'
import { eventually } from '../fixture.ts'
import { fleet } from '../fleet.ts'
import { startProcess } from '../replica-process.ts'

const repository = 'acme/shop'
const cutProgram = fileURLToPath(new URL('../cut-program.ts', import.meta.url))

async function scene() {
  const github = await startGithubServer({ repositories: [repository] })
  onTestFinished(async () => await github[Symbol.asyncDispose]())
  const { url, db, store, marks, enqueue } = await fleet()
  const env = { DATABASE_URL: url, Q_PRESET: 'fast', Q_THREADS: '3', GITHUB_TOKEN: github.token }
  const settings = { issue: '/issue', repositories: [repository], tokenVariable: 'GITHUB_TOKEN', apiUrl: github.url }
  const destination = { name: 'issues', kind: 'github', reports: ['recovery'] as const }
  /** Starts a replica that executes nothing: it recovers and reports. */
  const startReporter = (cut?: Record<string, string>) =>
    startProcess({ env: { ...env, Q_QUEUES: 'another', ...cut }, ...(cut !== undefined && { program: cutProgram }) })
  return {
    github,
    db,
    startReporter,
    /** A replica that executes a run of each issue, and another one, which sends the reports. */
    async start(issues: readonly number[], cut?: Record<string, string>) {
      await store.putDestination({ ...destination, settings: { ...settings, labels: false } })
      const reporter = await startReporter(cut)
      const duties = db.selectFrom('q.duty').where('name', '=', 'deliver issues').select('holder')
      await eventually(async () => await duties.executeTakeFirst(), 'it has the duty to send reports')
      const victim = await startProcess({ env })
      for (const issue of issues) await enqueue('markAgain', 'work', 600_000, { issue })
      await eventually(() => marks.count('began', 'work') === issues.length || undefined, 'the runs began')
      const worker = (await store.listNodes()).find(({ id }) => id === victim.id)?.name
      return { victim, reporter, worker }
    },
    /** As if the time until the next try had passed, again and again. */
    delivered: (reports: number) =>
      eventually(async () => {
        // One row at a time: more could deadlock with the replica.
        await sql`UPDATE q.delivery SET due_at = clock_timestamp() WHERE id = (SELECT id FROM q.delivery
          WHERE due_at > clock_timestamp() AND leased_by IS NULL LIMIT 1 FOR UPDATE SKIP LOCKED)`.execute(db)
        const { rows } = await sql`SELECT FROM q.delivery WHERE delivered_at IS NOT NULL`.execute(db)
        return rows.length === reports || undefined
      }, 'the reports were delivered'),
  }
}

function recoveryComment(worker: string | undefined): RegExp {
  return new RegExp(`^<!-- q:recovery:\\d+:1 -->
⚠️ \\*\\*Stale Lock Detected\\*\\*

Worker \`${worker}\` last seen \\d+s ago\\.

\\*\\*Actions Taken:\\*\\*
- ➖ Assignment removed: not configured
- ✅ Lock released
- ✅ Task returned to queue

Task is now available for other workers to claim\\.$`)
}

test('a killed replica leaves one comment per run, even if GitHub limits requests, or stores a comment and drops the connection', async () => {
  const { github, start, delivered } = await scene()
  const issues = [12, 13, 14].map((number) => github.issue(repository, number))
  const limited = {
    status: 403,
    headers: { 'retry-after': '1', 'x-ratelimit-remaining': '0' },
    body: { message: 'no' },
  }
  github.plan({ on: /^POST .*\/13\/comments$/, answer: 'close after storing' })
  github.plan({ on: /^POST .*\/14\/comments$/, answer: limited, times: 2 })
  const { victim, worker } = await start([12, 13, 14])
  victim.kill('SIGKILL')
  await delivered(3)
  for (const { comments } of issues)
    expect(comments.map(({ body }) => body)).toEqual([expect.stringMatching(recoveryComment(worker))])
  expect(github.faultsLeft).toBe(false)
})

test('a GitHub that refuses requests for a minute is not asked until the minute is over, and then has one comment', async () => {
  const { github, start, db } = await scene()
  const { comments } = github.issue(repository, 12)
  const { victim, worker } = await start([12])
  github.limitRate(60_000)
  const before = github.requests.length
  victim.kill('SIGKILL')
  await eventually(() => comments.length > 0 || undefined, 'the comment is there', 110_000)
  await eventually(async () => {
    const { rows } = await sql`SELECT FROM q.delivery WHERE delivered_at IS NOT NULL`.execute(db)
    return rows.length > 0 || undefined
  }, 'the report counts as delivered')
  expect(comments.map(({ body }) => body)).toEqual([expect.stringMatching(recoveryComment(worker))])
  // The refused request, a look for a comment that a refused request may have left, and the comment.
  expect(github.requests.slice(before).map((line) => line.split(' ')[0])).toEqual(['POST', 'GET', 'POST'])
})

test('a replica that is killed between winning and sending leaves the comment to another one', async () => {
  const { github, db, start, startReporter, delivered } = await scene()
  const { comments } = github.issue(repository, 12)
  // Only the answer that leases the report has this member.
  const { victim, reporter, worker } = await start([12], { CUT_AT: '"silentMs"' })
  victim.kill('SIGKILL')
  expect((await reporter.ended).signal).toBe('SIGKILL')
  expect(comments).toEqual([])
  // As if its leases had expired.
  await sql`UPDATE q.delivery SET leased_until = clock_timestamp(), leased_by = NULL`.execute(db)
  await sql`UPDATE q.duty SET until = clock_timestamp()`.execute(db)
  await startReporter()
  await delivered(1)
  expect(comments.map(({ body }) => body)).toEqual([expect.stringMatching(recoveryComment(worker))])
})
