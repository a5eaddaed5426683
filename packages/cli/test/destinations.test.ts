/** `q destinations` and `q deliveries redeliver`, as a person uses them. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { connect, createStore } from '@q/store'
import { testDatabase } from '@q/testing'
import { q, qJson } from './terminal.ts'

const database = await testDatabase()
const folder = await mkdtemp(join(tmpdir(), 'q-destinations-'))
const connection = connect(database.url, { purpose: 'pool' })
const store = createStore(connection.db)
afterAll(async () => {
  await connection.close()
  await database.drop()
  await rm(folder, { recursive: true })
})
const env = { DATABASE_URL: database.url }

async function fileOf(destination: object): Promise<string> {
  const file = join(folder, 'destination.json')
  await writeFile(file, JSON.stringify(destination))
  return file
}

test('a destination is created from a file, tested, paused, resumed and removed, and the audit has every step', async () => {
  const file = await fileOf({ name: 'steps', kind: 'log', reports: ['status'] })
  expect(await qJson(['destinations', 'add', file], env)).toEqual({
    code: 0,
    json: { destination: 'steps', answer: 'made' },
  })
  expect((await q(['destinations', 'add', file], env)).stdout).toContain('steps is unchanged.')
  expect((await q(['destinations', 'test', 'steps'], env)).stdout).toContain('steps accepted a test report.')
  expect((await q(['destinations', 'pause', 'steps'], env)).code).toBe(0)
  expect((await q(['destinations'], env, { columns: 120 })).stdout).toMatch(/steps +log +status +paused/)
  expect((await q(['destinations', 'resume', 'steps'], env)).code).toBe(0)
  expect((await q(['destinations', 'rm', 'steps'], env)).code).toBe(0)
  const { items } = await store.listActions()
  expect(
    items
      .filter(({ subject }) => subject === 'destination steps')
      .map(({ what }) => what)
      .toReversed(),
  ).toEqual([
    'put-destination',
    'put-destination',
    'test-destination',
    'pause-destination',
    'resume-destination',
    'remove-destination',
  ])
})

test('a file with mistakes changes nothing, and all of them are named', async () => {
  const file = await fileOf({
    name: 'mistaken',
    kind: 'webhook',
    reports: ['ends'],
    settings: { url: 'http://example.com' },
  })
  const { code, stderr } = await q(['destinations', 'add', file], env)
  expect(code).toBe(2)
  for (const part of ['"ends"', 'https:', '"secretVariable"']) expect(stderr).toContain(part)
  expect((await store.listDestinations()).map(({ name }) => name)).not.toContain('mistaken')
})

test('a destination or delivery that does not exist is exit code 4', async () => {
  for (const line of [
    'destinations pause nope',
    'destinations test nope',
    'destinations redeliver nope',
    'destinations rm nope',
    'deliveries redeliver 77',
  ])
    expect([line, (await q(line.split(' '), env)).code]).toEqual([line, 4])
})

test('a test report that a destination does not accept is exit code 1, with the reason', async () => {
  const settings = { url: 'http://127.0.0.1:1/', secretVariable: 'NO_SUCH_SECRET' }
  await q(['destinations', 'add', await fileOf({ name: 'hook', kind: 'webhook', reports: ['status'], settings })], env)
  const { code, stdout } = await q(['destinations', 'test', 'hook'], env)
  expect([code, stdout]).toEqual([1, expect.stringContaining('NO_SUCH_SECRET is not set')])
})

test('all reports that a destination gave up are sent again by one command', async () => {
  await store.putDestination({ name: 'far', kind: 'log', reports: ['status'] })
  const lane = await store.internLane({ queue: 'default', task: 'b' })
  await store.enqueueTaskRuns(Array.from({ length: 3 }, () => ({ task: 'b', lane, payload: {} })))
  const redeliver = ['destinations', 'redeliver', 'far']
  expect((await q(redeliver, env)).stdout).toBe('far has no given-up report that may be sent again.\n')
  const leased = await store.leaseDeliveries({ destination: 'far', holder: 'h', limit: 10, forMs: 60_000 })
  const outcome = { kind: 'rejected', error: 'HTTP 404' } as const
  await store.markDeliveries(
    'h',
    leased.map(({ id }) => ({ id, revision: 1, outcome })),
  )
  expect(await q(redeliver, env)).toMatchObject({ code: 0, stdout: '3 reports to far are sent again.\n' })
  expect(await store.leaseDeliveries({ destination: 'far', holder: 'h', limit: 10, forMs: 60_000 })).toHaveLength(3)
  expect((await store.listActions()).items[0]).toMatchObject({
    what: 'redeliver-given-up',
    subject: 'destination far',
    answer: '3 reports',
  })
})

test('a report that was given up is sent again', async () => {
  await store.putDestination({ name: 'dev', kind: 'log', reports: ['status'] })
  const lane = await store.internLane({ queue: 'default', task: 'a' })
  await store.enqueueTaskRuns([{ task: 'a', lane, payload: {} }])
  const [leased] = await store.leaseDeliveries({ destination: 'dev', holder: 'h', limit: 1, forMs: 1_000 })
  const outcome = { kind: 'rejected', error: 'HTTP 400' } as const
  await store.markDeliveries('h', [{ id: leased!.id, revision: 1, outcome }])
  expect((await q(['deliveries', '--given-up'], env, { columns: 120 })).stdout).toContain('HTTP 400')
  expect((await q(['deliveries', 'redeliver', leased!.id], env)).stdout).toContain('is sent again')
  expect((await q(['deliveries', '--given-up', '--destination', 'dev'], env)).stdout).toContain(
    'No delivery to dev was given up.',
  )
})
