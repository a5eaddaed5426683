/** A memory destination with the real server on a file of its own, for the time of a test or of a test file. */
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type afterAll, onTestFinished } from 'vitest'
import { destinationKinds, type Sender, type SenderState, type Settings } from '../../src/index.ts'
import { installedServer } from '../../src/memory/mcp.ts'
import { memoryState } from '../memory-state.ts'

export interface TestDestination {
  readonly sender: Sender
  readonly file: string
  /** The time that the sender sees. */
  readonly clock: { nowMs: number }
  /** Observations by name, as the file has them, of the names that begin so. */
  content(before?: string): Promise<Record<string, readonly string[]>>
  /** Names in the file that begin so. */
  names(before: string): Promise<readonly string[]>
}

/** Ends it with the test, or with the file: `afterAll`. */
type Scope = typeof onTestFinished | typeof afterAll

export async function memoryFile(scope: Scope = onTestFinished): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'q-memory-'))
  scope(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'memory.jsonl')
}

export async function memoryDestination(
  settings: Settings = {},
  { state = memoryState(), scope = onTestFinished }: { readonly state?: SenderState; readonly scope?: Scope } = {},
): Promise<TestDestination> {
  const file = (settings['file'] as string | undefined) ?? (await memoryFile(scope))
  const clock = { nowMs: Date.UTC(2026, 0, 1) }
  const sender = await destinationKinds['memory']!.open({
    name: 'memory',
    settings: { file, ...settings },
    env: () => undefined,
    state,
    nowMs: () => clock.nowMs,
    log: () => {},
  })
  scope(() => sender.close())
  const content = async (before = '') => {
    const text = existsSync(file) ? await readFile(file, 'utf8') : ''
    const lines = text.split('\n').filter((line) => line !== '')
    const entities = lines.map((line) => JSON.parse(line) as { name: string; observations: string[] })
    const wanted = entities.filter(({ name }) => name.startsWith(before))
    return Object.fromEntries(wanted.map(({ name, observations }) => [name, observations]))
  }
  const names = async (before: string) => Object.keys(await content(before))
  return { sender, file, clock, content, names }
}

export interface Relay {
  /** The setting of a destination. */
  readonly command: readonly string[]
  /** At the next call of the tool: ends the server, drops the call, or ends the server after its answer. */
  fault(act: 'kill' | 'mute' | 'leave', tool: string): Promise<void>
  /** Calls and answers, in order. */
  log(): Promise<readonly string[]>
}

export async function relay(): Promise<Relay> {
  const file = await memoryFile()
  const program = fileURLToPath(new URL('relay.mjs', import.meta.url))
  const [node = '', server = ''] = installedServer()
  await writeFile(`${file}.log`, '')
  return {
    command: [node, program, server, `${file}.log`, `${file}.fault`],
    fault: (act, tool) => writeFile(`${file}.fault`, `${act} ${tool}`),
    log: async () => (await readFile(`${file}.log`, 'utf8')).trim().split('\n'),
  }
}
