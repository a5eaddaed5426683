/** Whole replicas that report to a webhook: what arrives, once or repeated, and what a bad receiver does to runs. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { connect, createStore, type DestinationInput } from '@q/store'
import { cluster, eventually } from '../fixture.ts'
import { fleet } from '../fleet.ts'
import { startProcess } from '../replica-process.ts'
import { receiver, secret } from './receiver.ts'

process.env['HOOK_SECRET'] = secret.HOOK_SECRET

const hookTo = (url: string, more: Partial<DestinationInput> = {}): DestinationInput => ({
  name: 'hook',
  kind: 'webhook',
  reports: ['status'],
  settings: { url, secretVariable: 'HOOK_SECRET' },
  ...more,
})

const wholeLife = ['AVAILABLE', 'RUNNING', 'SUCCEEDED']

async function storeOf(url: string) {
  const { db, close } = connect(url, { purpose: 'pool' })
  onTestFinished(close)
  return { db, store: createStore(db) }
}

test('with two replicas, each status of each run arrives once and in order', async () => {
  const { q, url, start } = await cluster()
  const { store } = await storeOf(url)
  const there = await receiver()
  await start()
  await start()
  await store.putDestination(hookTo(there.url))
  const runs = await q.enqueueMany(Array.from({ length: 30 }, (_, n) => ['echo', n]))
  await eventually(() => there.reports.length >= 90 || undefined, 'all reports')
  for (const { id } of runs) expect(there.statusesOf(id)).toEqual(wholeLife)
  expect(new Set(there.reports.map(({ id }) => id)).size).toBe(90)
})

test('a receiver that hangs slows no run, and gets everything when it answers again', async () => {
  const { q, url, start } = await cluster()
  const { store, db } = await storeOf(url)
  const there = await receiver()
  there.answer = () => {}
  await store.putDestination(hookTo(there.url, { settings: { ...hookTo(there.url).settings, timeoutMs: 100 } }))
  await start()
  const runs = await q.enqueueMany([1, 2, 3].map((n) => ['echo', n]))
  expect(await Promise.all(runs.map((run) => run.result({ timeout: '40s' })))).toEqual([1, 2, 3])
  await eventually(async () => (await store.listDestinations())[0]?.lastError ?? undefined, 'a failed report')
  there.answer = (response) => void response.writeHead(204).end()
  await eventually(async () => {
    await sql`UPDATE q.delivery SET due_at = clock_timestamp() WHERE due_at IS NOT NULL`.execute(db)
    const [view] = await store.listDestinations()
    return view?.waiting.count === 0 || undefined
  }, 'everything was delivered')
  for (const { id } of runs) expect([...new Set(there.statusesOf(id))]).toEqual(wholeLife)
})

test('destinations of a file are created, and a replica that starts with a file without them removes them', async () => {
  const { url, start } = await cluster()
  const { store } = await storeOf(url)
  const folder = await mkdtemp(join(tmpdir(), 'q-destinations-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'destinations.json')
  const there = await receiver()
  await writeFile(file, JSON.stringify([hookTo(there.url), { name: 'dev', kind: 'log', reports: ['run-ended'] }]))
  await start({ Q_DESTINATIONS_FILE: file })
  expect((await store.listDestinations()).map(({ name }) => name)).toEqual(['dev', 'hook'])
  await writeFile(file, JSON.stringify([hookTo(there.url)]))
  await start({ Q_DESTINATIONS_FILE: file })
  expect((await store.listDestinations()).map(({ name }) => name)).toEqual(['hook'])
  await writeFile(
    file,
    JSON.stringify([
      { name: 'x', kind: 'webhook', reports: [] },
      { kind: 'log', reports: ['status'] },
    ]),
  )
  const refused = start({ Q_DESTINATIONS_FILE: file })
  await expect(refused).rejects.toMatchObject({ code: 'DESTINATION_INVALID' })
  await expect(refused).rejects.toThrow(/x: "reports" is empty[^]*x: Set "url"[^]*destination 2: "name"/)
})

const program = fileURLToPath(new URL('../cut-program.ts', import.meta.url))

test.each([
  ['between winning and sending', 1],
  ['between sending and recording', 2],
])('a replica that is killed %s loses no report; a repeat has the same id', async (when, times) => {
  const { url, store, db, enqueue, ended } = await fleet()
  const there = await receiver()
  await store.putDestination(hookTo(there.url, { reports: ['run-ended'] }))
  const env = { DATABASE_URL: url, Q_PRESET: 'fast', ...secret }
  // Only the answer that leases the report has this member.
  const doomed =
    times === 1
      ? await startProcess({ env: { ...env, CUT_AT: '"detail": null' }, program })
      : await startProcess({ env })
  if (times === 2) there.answer = () => doomed.kill('SIGKILL')
  const id = await enqueue('markOnce', 'one', 1)
  expect((await doomed.ended).signal).toBe('SIGKILL')
  expect(await ended(id)).toMatchObject({ status: 'SUCCEEDED' })
  expect(there.reports).toHaveLength(times - 1)
  there.answer = (response) => void response.writeHead(204).end()
  // As if its leases had expired.
  await sql`UPDATE q.delivery SET leased_until = clock_timestamp()`.execute(db)
  await sql`UPDATE q.duty SET until = clock_timestamp()`.execute(db)
  await startProcess({ env })
  await eventually(() => there.reports.length === times || undefined, when)
  expect(new Set(there.reports.map((report) => report.id)).size).toBe(1)
  expect(there.reports[0]).toMatchObject({ kind: 'run-ended', subject: `run/${id}`, payload: { status: 'SUCCEEDED' } })
})

test('the runs of a killed replica are reported as recovered, once, by another one', async () => {
  const { url, store, enqueue, marks } = await fleet()
  const there = await receiver()
  const env = { DATABASE_URL: url, Q_PRESET: 'fast', ...secret }
  const doomed = await startProcess({ env })
  await store.putDestination(hookTo(there.url, { reports: ['recovery', 'run-ended'] }))
  const id = await enqueue('markOnce', 'long', 600_000)
  await eventually(() => marks.count('began', 'long') === 1 || undefined, 'the run began')
  await startProcess({ env })
  doomed.kill('SIGKILL')
  await eventually(async () => {
    const [view] = await store.listDestinations()
    return view?.waiting.count === 2 || there.reports.length === 2 || undefined
  }, 'the reports are written')
  // As if the duty of the killed replica had expired.
  await store.releaseDuty({ name: 'deliver hook', holder: doomed.id })
  await store.pauseDestination('hook', { by: 'test' })
  await store.resumeDestination('hook')
  await eventually(() => there.reports.length === 2 || undefined, 'both reports')
  const byKind = Object.fromEntries(there.reports.map((report) => [report.kind, report.payload]))
  expect(byKind).toMatchObject({
    recovery: { runId: id, became: 'FAILED', code: 'WORKER_CRASHED' },
    'run-ended': { runId: id, status: 'FAILED', code: 'WORKER_CRASHED' },
  })
})
