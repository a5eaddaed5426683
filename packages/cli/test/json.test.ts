import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { allPaths } from './commands-all.ts'
import { exampleCluster } from './example-cluster.ts'
import { scratch, startQ } from './program.ts'
import { shapeOf } from './json-shape.ts'
import { q, qJson } from './terminal.ts'

const cluster = await exampleCluster()
const { runs, workflow, fingerprint } = cluster
afterAll(() => cluster.close())

/** A destination whose secret is missing here, so that its test fails without a network. */
const folder = await scratch('q-json-', afterAll)
const file = join(folder, 'hook.json')
const settings = { url: 'http://127.0.0.1:1/', secretVariable: 'NO_SUCH_SECRET' }
const env = {
  ...cluster.env,
  Q_HTTP_TOKEN_FILE: join(folder, 'token'),
  Q_MEMORY_FILE: join(folder, 'memory.jsonl'),
}
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
  ['destinations redeliver hook'],
  ['destinations rm hook'],
  ['drain eu-2 --deadline 2m --on-deadline release'],
  ['undrain eu-2'],
  ['migrate'],
  ['migrate --sql'],
  ['db url'],
  ['token'],
  ['token new --name grafana'],
  ['token list'],
  ['token revoke grafana'],
  ['memory put note text'],
  ['memory get note'],
  ['memory ls'],
  ['memory test'],
  ['completion fish'],
  ['--version'],
  ['actions'],
]

test('every command prints one JSON document, whose members stay as they are documented', async () => {
  const shapes: Record<string, unknown> = {}
  const undocumented: string[] = []
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
    if (!entity.test(line)) undocumented.push(...(await membersOutsideHelp(line, answer.json as object)))
  }
  expect(shapes).toMatchSnapshot()
  expect(undocumented).toEqual([])
})

/** They print one item of a list, or a heartbeat, with the members that the HTTP API documents. */
const entity = /^(errors|operations|queues) [^ ]+$|--heartbeat-json|--detach/

/** The help of the command has a line with its documents; the help of `q` has the one of the version. */
async function membersOutsideHelp(line: string, document: object): Promise<string[]> {
  const path = allPaths()
    .filter((one) => `${line} `.startsWith(`${one} `))
    .toSorted((a, b) => b.length - a.length)[0]
  const { stdout } = await q([...(path?.split(' ') ?? []), '--help'], {})
  const documented = /^JSON: [^]*/m.exec(stdout)?.[0] ?? ''
  const members = Object.keys(document).filter((name) => !new RegExp(`\\b${name}\\b`).test(documented))
  return members.map((name) => `${line}: ${name}`)
}

/** The documents in the snapshot depend on what nodes do: a node that really runs has a database of its own. */
async function ownCluster() {
  const own = await exampleCluster()
  onTestFinished(own.close)
  return { ...own, env: { ...env, ...own.env } }
}

test('a command that runs until a signal prints a document as soon as it serves, which open finds', async () => {
  const other = await ownCluster()
  const server = startQ(['serve', '--port', '0', '--json'], other.env)
  const serving = JSON.parse(await server.line('{')) as { readonly url: string }
  await other.nameEndpoint('eu-1', serving.url)
  const { code, json } = await qJson(['open', '--print'], other.env)
  expect(code).toBe(0)
  expect({ open: shapeOf(json), serve: shapeOf(serving) }).toMatchSnapshot()
  server.kill('SIGTERM')
  const { stdout } = await server.ended
  expect(stdout.trim().split('\n')).toHaveLength(1)
})

test('q start prints its log as documents, one per line, and the error that ends it as the last one', async () => {
  const other = await ownCluster()
  const replica = startQ(['start', '--json'], { ...other.env, Q_NAME: 'eu-9', Q_THREADS: '1' })
  const facts = JSON.parse(await replica.line('"msg":"started"')) as Record<string, unknown>
  const replicaId = expect.any(String) as string
  expect(facts).toMatchObject({ replicaId, name: 'eu-9', threads: 1, tasks: ['hello', 'primes', 'wait'] })
  replica.kill('SIGTERM')
  const { code, stdout } = await replica.ended
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
  expect([code, lines.at(-1)]).toEqual([0, expect.objectContaining({ msg: expect.any(String) as string })])
  const refused = await startQ(['start', '--json'], { ...other.env, Q_THREADS: 'many' }).ended
  expect(refused).toMatchObject({ code: 2, stderr: '' })
  expect(JSON.parse(refused.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
    error: { message: expect.stringContaining('Q_THREADS') as string },
  })
})

/** Two run until a signal, one needs a server, and one is a group of others: see the tests above. */
const elsewhere: ReadonlySet<string> = new Set(['start', 'serve', 'open', 'memory'])

test('every command is in the snapshot', () => {
  const lines = commands.map(([line]) => `${line} `)
  const missing = allPaths().filter(
    (path) => !elsewhere.has(path) && !lines.some((line) => line.startsWith(`${path} `)),
  )
  expect(missing).toEqual([])
})
