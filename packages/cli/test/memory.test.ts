/** `q memory` with the real server, and the commands of docs/how-to/memory-server.md. */
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { destinationKinds, type Report } from '@q/destinations'
import { memoryState } from '../../destinations/test/memory-state.ts'
import { printsAsExpected, readDocument } from '../../examples/test/document.ts'
import { shapeOf } from './json-shape.ts'
import { q, qJson } from './terminal.ts'

const folder = await mkdtemp(join(tmpdir(), 'q-cli-memory-'))
const file = join(folder, 'memory.jsonl')
const env = { Q_MEMORY_FILE: file }
const worker = 'worker-local-1'
const at = 1_704_067_200_000

const metrics = { cpu_usage: 45.2, memory_usage: 2048, tasks_completed: 42, tasks_failed: 2, uptime: 7200 }
const heartbeat = { worker_id: worker, timestamp: at, health_status: 'healthy', current_tasks: ['41'] } as const
const failure = { worker_id: worker, timestamp: at, error: 'connection refused', consecutive_failures: 3 }
const run = { runId: '41', epoch: 1, task: 'resize', queue: 'default', issue: null }
const atText = new Date(at).toISOString()
const payloads = [
  ['heartbeat', { heartbeat: { ...heartbeat, capacity_available: 3, metrics }, runs: [] }],
  ['alert', failure],
  ['alert', { ...failure, timestamp: at + 300_000, consecutive_failures: 4 }],
  ['recovery', { ...run, worker, silentMs: 932_000, cause: 'presence', became: 'AVAILABLE', code: null, at: atText }],
] as const

beforeAll(async () => {
  const sender = await destinationKinds['memory']!.open({
    name: 'memory',
    settings: { file },
    env: () => undefined,
    state: memoryState(),
    nowMs: Date.now,
    log: () => {},
  })
  const common = { id: '1.1', subject: 'x', createdAt: new Date(at), attempt: 1 }
  await sender.send(payloads.map(([kind, payload]) => ({ ...common, kind, payload }) as Report))
  await sender.close()
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('the commands of docs/how-to/memory-server.md print what it shows', async () => {
  const text = await readFile(new URL('../../../docs/how-to/memory-server.md', import.meta.url), 'utf8')
  const { steps } = readDocument(text)
  expect(steps.length).toBeGreaterThan(5)
  for (const step of steps) {
    if (step.kind !== 'command') throw new Error('the document has a step that is not a command')
    const words = [...step.command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
    const { code, stdout } = await q(words.slice(1), env)
    const shown = printsAsExpected(stdout, step.prints) ? step.prints : stdout
    expect([step.command, code, shown]).toEqual([step.command, 0, step.prints])
  }
})

test('every command of q memory prints one JSON document, whose members stay as they are documented', async () => {
  const failures = `task-sentinel/workers/${worker}/heartbeat-failures`
  const lines = [['get', failures], ['ls', '*recoveries*'], ['put', 'note', 'a'], ['put', 'note', 'b'], ['test']]
  const shapes: Record<string, unknown> = {}
  for (const line of lines) {
    const { code, json } = await qJson(['memory', ...line], env)
    expect([line, code]).toEqual([line, 0])
    shapes[line.join(' ')] = shapeOf(json)
  }
  expect(shapes).toMatchSnapshot()
})

test('without a file, a key or a working server, q memory says what to do', async () => {
  expect(await q(['memory', 'ls'], {})).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^MEMORY_FILE_MISSING /),
  })
  const missing = await qJson(['memory', 'get', 'task-sentinel/nothing'], env)
  expect(missing).toMatchObject({ code: 4, json: { error: { code: 'MEMORY_KEY_NOT_FOUND' } } })
  const broken = await q(['memory', 'test', '--command', 'false', '--file', file], {})
  expect(broken).toMatchObject({ code: 1, stderr: expect.stringMatching(/^MEMORY_SERVER_FAILED /) })
  await appendFile(`${file}.torn`, '{"type":"entity"')
  const torn = await q(['memory', 'ls', '--file', `${file}.torn`], {})
  expect(torn).toMatchObject({ code: 1, stderr: expect.stringContaining(`line 1 of ${file}.torn is not JSON`) })
})

test('a memory server that does not answer is waited for aloud', async () => {
  const { promise: said, resolve: say } = Promise.withResolvers<string>()
  const { code } = await q(['memory', 'ls', '--command', 'sleep 3'], env, { onProgress: say })
  expect([code, await said]).toEqual([1, expect.stringMatching(/^waiting for the memory server \(\d+ s\)$/)])
})
