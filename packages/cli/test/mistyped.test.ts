/** Names and numbers that are mistyped: an answer that looks like a result would mislead a person on call. */
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { exampleCluster } from './example-cluster.ts'
import { q, qJson } from './terminal.ts'

const cluster = await exampleCluster()
const { env, store } = cluster
await store.publishTasks('aaaaaaaaaaa1', [{ name: 'resize', queue: 'default', options: {}, payloadSchema: null }])
afterAll(() => cluster.close())

test('a queue that nothing uses is paused with a warning, and the queue that was probably meant', async () => {
  const { code, stderr } = await q(['queues', 'pause', 'vidoe'], env)
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: 'Warning: no run and no task uses the queue "vidoe". Did you mean "video"?\n',
  })
  expect((await q(['queues', 'pause', 'media'], env)).stderr).toBe('')
  await q(['queues', 'resume', 'media'], env)
})

test.each(['queues medai', 'queues resume medai', 'why medai'])(
  'q %s names the queue that was probably meant',
  async (line) => {
    expect(await q(line.split(' '), env)).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/^QUEUE_NOT_FOUND {2}There is no queue "medai"\. Did you mean "media"\?/) as string,
    })
  },
)

const unknownTask = 'No replica has published the task "resise". Did you mean "resize"?'
const unknownQueue = 'There is no queue "medai". Did you mean "media"?'

test.each([
  ['runs --task resise', unknownTask],
  ['runs --task resise --count', unknownTask],
  ['runs --queue medai', unknownQueue],
  ['retry --task resise --yes', unknownTask],
  ['cancel --queue medai --yes', unknownQueue],
  ['review accept --task resise --dry-run', unknownTask],
])('q %s finds no run and says that nothing has this name', async (line, hint) => {
  expect((await q(line.split(' '), env)).stderr).toContain(hint)
  const { stderr } = await q([...line.split(' '), '--json'], env)
  expect(stderr).toBe('')
})

test('a filter that finds nothing by names that exist says no more', async () => {
  expect((await q(['runs', '--task', 'resize', '--group', 'x'], env)).stderr).not.toContain('resize')
})

test.each([
  ['pause media', 'q queues pause, q schedules pause, q workflows pause, q destinations pause'],
  ['retry-failed 1', 'q workflows retry-failed'],
  ['redeliver 1', 'q deliveries redeliver'],
])('q %s names the commands with this word', async (line, meant) => {
  expect(await q(line.split(' '), env)).toMatchObject({ code: 2, stderr: expect.stringContaining(meant) as string })
})

test('a wrong port of q serve is named as it was typed', async () => {
  for (const port of ['abc', '70000'])
    expect(await q(['serve', '--port', port], env)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(new RegExp(`^NUMBER_INVALID {2}--port cannot be ${port}\\.`)) as string,
    })
})

test('--fields picks members of the documents of a stream too', async () => {
  expect((await qJson(['top', '--count', '1', '--fields', 'at,place'], env)).json).toEqual(
    expect.objectContaining({ place: expect.any(String) as string }),
  )
  const { stdout } = await q(['logs', cluster.runs.succeeded, '-f', '--json', '--fields', 'line'], env)
  expect(stdout.trim().split('\n')).toEqual(['{"line":"rendering"}', '{"line":"rendered with warnings"}'])
})

test('the error for two nodes of one name asks for an id', async () => {
  await cluster.execute(sql`UPDATE q.replica SET name = 'twin' WHERE id IN ('aaaaaaaaaaa1', 'aaaaaaaaaaa2')`)
  expect((await q(['drain', 'twin'], env)).stderr).toMatch(/^ {2}fix {2}Use the id: aaaaaaaaaaa[12], for instance\.$/m)
  expect((await q(['drain', 'aaaaaaaaaaa'], env)).stderr).toMatch(
    /^ {2}fix {2}Use the whole name, or more of the id\.$/m,
  )
})

test.each(['show', 'why', 'logs', 'cancel', 'retry', 'again', 'review retry'])(
  'q %s takes the id of a run as people say it: run 123',
  async (command) => {
    const spoken = await q([...command.split(' '), 'run', '999'], env)
    expect(spoken).toMatchObject({ code: 4, stderr: expect.stringContaining('There is no run 999.') as string })
    const afterAnOption = await q([...command.split(' '), '--json', 'run', '999'], env)
    expect(afterAnOption).toMatchObject({ code: 4, stdout: expect.stringContaining('There is no run 999.') as string })
  },
)

test('a task or schedule that is named run keeps its name', async () => {
  expect((await q(['enqueue', 'run', '1'], env)).stdout).toMatch(/^Run \d+ of run is PENDING\.$/m)
  expect((await q(['retry', '--task', 'run', '999'], env)).stderr).not.toContain('There is no run 999.')
})
