/** Real processes: the q command and the runner's own main, as a person or a supervisor starts them. */
import { spawn, type ChildProcess } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type afterAll, onTestFinished } from 'vitest'

const q = fileURLToPath(new URL('../src/bin.ts', import.meta.url))
const main = fileURLToPath(new URL('../../runner/src/main.ts', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Program {
  readonly pid: number
  readonly ended: Promise<Ended>
  kill(signal: NodeJS.Signals): void
  /** The first line of output, on either stream, that contains the text; fails if the program ends without it. */
  line(text: string): Promise<string>
}

type Env = Record<string, string>

/** Of our own environment only what a program needs to run at all: no setting leaks into a test. */
function environment(env: Env): Env {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  return { PATH, HOME, NODE_COMPILE_CACHE, Q_HTTP: 'off', ...env }
}

/** Ends it with the test, or with the file: `afterAll`. */
type Scope = typeof onTestFinished | typeof afterAll

function run(file: string, args: readonly string[], env: Env, input = '', scope: Scope = onTestFinished): Program {
  const child: ChildProcess = spawn(process.execPath, ['--conditions=@q/source', file, ...args], {
    env: environment(env),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const text = { stdout: '', stderr: '' }
  const watchers = new Set<() => void>()
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]!.setEncoding('utf8').on('data', (chunk: string) => {
      text[stream] += chunk
      for (const look of watchers) look()
    })
  }
  child.stdin!.end(input)
  const { promise: ended, resolve } = Promise.withResolvers<Ended>()
  child.on('close', (code, signal) => resolve({ code, signal, ...text }))
  scope(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    pid: child.pid!,
    ended,
    kill: (signal) => void child.kill(signal),
    line(wanted) {
      const { promise, resolve: found, reject } = Promise.withResolvers<string>()
      const look = () => {
        const line = `${text.stdout}\n${text.stderr}`.split('\n').find((candidate) => candidate.includes(wanted))
        if (line !== undefined) found(line)
      }
      watchers.add(look)
      look()
      void ended.then((end) => reject(new Error(`ended without "${wanted}": ${JSON.stringify(end)}`)))
      return promise.finally(() => watchers.delete(look))
    },
  }
}

export const runQ = (args: readonly string[], env: Env, input?: string): Promise<Ended> =>
  run(q, args, env, input).ended
export const startQ = (args: readonly string[], env: Env): Program => run(q, args, env)

/** A replica that is up. */
export async function startReplica(
  env: Env,
  scope?: Scope,
): Promise<Program & { readonly facts: Record<string, unknown> }> {
  const program = run(main, [], env, '', scope)
  const facts = JSON.parse(await program.line('"msg":"started"')) as Record<string, unknown>
  return { ...program, facts }
}

export const startMain = (env: Env): Program => run(main, [], env)

/** A folder that the database's own user may enter, for the time of a test, or of a file: `afterAll`. */
export async function scratch(prefix: string, scope: Scope = onTestFinished): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix))
  await chmod(folder, 0o711)
  scope(() => rm(folder, { recursive: true, force: true }))
  return folder
}
