import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { allPaths } from './commands-all.ts'
import { exampleCluster } from './example-cluster.ts'
import { scratch } from './program.ts'
import { shapeOf } from './json-shape.ts'
import { qJson } from './terminal.ts'

const cluster = await exampleCluster()
const { env, runs, workflow, fingerprint } = cluster
afterAll(() => cluster.close())

/** A destination whose secret is missing here, so that its test fails without a network. */
const file = join(await scratch('q-json-', afterAll), 'hook.json')
const settings = { url: 'http://127.0.0.1:1/', secretVariable: 'NO_SUCH_SECRET' }
await writeFile(file, JSON.stringify({ name: 'hook', kind: 'webhook', reports: ['status'], settings }))

/** Reads first, in the order of the help; then what changes something. */
const commands: readonly (readonly [line: string, code?: number])[] = [
  ['status --exact'],
  ['top --count 1'],
  ['runs'],
  ['runs --view failed --count'],
  [`show ${runs.failed}`],
  [`why ${runs.gated}`],
  ['why media'],
  [`logs ${runs.succeeded}`],
  ['errors'],
  [`errors ${fingerprint.slice(0, 4)}`],
  ['nodes --stopped'],
  ['node eu-1'],
  ['node eu-1 --heartbeat-json'],
  ['recover --dry-run'],
  ['recoveries'],
  ['review'],
  ['queues'],
  ['queues default'],
  ['schedules'],
  ['schedules nightly'],
  ['workflows'],
  [`workflows show ${workflow}`],
  ['destinations'],
  ['deliveries'],
  // A server for tests runs without fsync, which is a finding.
  ['doctor', 1],
  ['repair'],
  ['enqueue resize {"width":1}'],
  [`cancel ${runs.ready}`],
  [`retry ${runs.failed}`],
  [`again ${runs.succeeded}`],
  ['retry --status failed --dry-run'],
  [`retry ${runs.lost} --dry-run`],
  [`cancel ${runs.running} --dry-run`],
  [`review accept ${runs.lost} --dry-run`],
  ['retry --status failed --yes --detach'],
  ['operations'],
  ['operations OPERATION'],
  ['operations stop OPERATION'],
  [`errors mute ${fingerprint} --for 1h`],
  [`errors unmute ${fingerprint}`],
  [`review accept ${runs.lost}`],
  [`review retry ${runs.lost}`],
  ['queues pause media --reason test'],
  ['queues resume media'],
  ['schedules run nightly'],
  ['schedules pause nightly'],
  ['schedules resume nightly'],
  ['schedules delete nightly'],
  [`workflows pause ${workflow}`],
  [`workflows resume ${workflow}`],
  [`workflows cancel ${workflow}`],
  [`workflows retry-failed ${workflow}`],
  ['destinations add FILE'],
  ['destinations pause hook'],
  ['destinations resume hook'],
  ['destinations test hook', 1],
  ['deliveries redeliver DELIVERY'],
  ['destinations rm hook'],
  ['drain eu-2 --deadline 2m --on-deadline release'],
  ['undrain eu-2'],
  ['migrate'],
  ['actions'],
]

test('every command prints one JSON document, whose members stay as they are documented', async () => {
  const shapes: Record<string, unknown> = {}
  let operation = ''
  for (const [line, code = 0] of commands) {
    if (line.includes('DELIVERY'))
      await cluster.execute(sql`INSERT INTO q.delivery (destination, news, subject, payload, due_at)
      VALUES ('hook', 'status', 'run/1/1', '{}', NULL)`)
    const answer = await qJson(
      line.replace('OPERATION', operation).replace('FILE', file).replace('DELIVERY', '1').split(' '),
      env,
    )
    expect([line, answer.code]).toEqual([line, code])
    if (line.includes('--detach')) operation = String(Reflect.get(answer.json as object, 'id'))
    shapes[line.replaceAll(/\b(\d+|[0-9a-f]{4,16})\b/g, 'N')] = shapeOf(answer.json)
  }
  expect(shapes).toMatchSnapshot()
})

/** Other tests read their answers: they open or serve something, need no database, or print a script. */
const elsewhere = /^(open|serve|start|completion|db.*|token.*|memory.*)$/

test('every command is in the snapshot', () => {
  const lines = commands.map(([line]) => `${line} `)
  const missing = allPaths().filter(
    (path) => !elsewhere.test(path) && !lines.some((line) => line.startsWith(`${path} `)),
  )
  expect(missing).toEqual([])
})
