/** Worker processes of a contender. They are ended by pid, at the latest when the benchmark ends. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { heapLine, readyLine, type Contender, type ContenderSettings } from '../contenders/contender.ts'
import { marksVariable, type Job } from '../jobs/job.ts'

export interface WorkerOptions {
  readonly contender: Contender
  readonly url: string
  readonly settings: ContenderSettings
  readonly processes: number
  readonly marksPath: string
  /** For plain threads, which have no queue to take jobs from. */
  readonly plain?: { readonly count: number; readonly job: Job }
  readonly env?: Readonly<Record<string, string>>
  /** Whether `heapMb` will be called. */
  readonly probeHeap?: boolean
}

export interface Workers extends AsyncDisposable {
  readonly pids: readonly number[]
  /** Resolves when every worker takes jobs. */
  ready(): Promise<void>
  /** Throws if a worker has ended. */
  mustLive(): void
  kill(index: number): Promise<void>
  /** The memory that the heaps of all threads of the first worker use after a garbage collection. */
  heapMb(): Promise<number>
  /** Asks every worker to exit; kills those that do not. */
  stop(): Promise<void>
}

/**
 * Workers run the same form as the benchmark: compiled by `pnpm bench`, because stripping types costs each thread 10
 * MB.
 */
const program = fileURLToPath(import.meta.resolve(`./contender-process${extname(import.meta.url)}`))
const heapProbe = import.meta.resolve(`./heap-probe${extname(import.meta.url)}`)
const stopMsMax = 60_000
const readyMsMax = 120_000
const heapMsMax = 30_000
const readyPollMs = 5
const outputMax = 4_000

const living = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

export function startWorkers(options: WorkerOptions): Workers {
  const workers = Array.from({ length: options.processes }, () => startWorker(options))
  const killed = new Set<number>()
  const mustLive = () => {
    for (const [index, { child, output }] of workers.entries())
      if (!killed.has(index) && hasEnded(child))
        throw new Error(`A worker of ${options.contender.name} ended: ${output()}`)
  }
  return {
    pids: workers.map(({ child }) => child.pid ?? 0),
    mustLive,
    async ready() {
      const untilMs = performance.now() + readyMsMax
      while (!workers.every(({ isReady }) => isReady())) {
        mustLive()
        if (performance.now() > untilMs) throw new Error(`A worker of ${options.contender.name} does not start.`)
        await sleep(readyPollMs)
      }
    },
    async kill(index) {
      killed.add(index)
      await end(workers[index]!.child, 'SIGKILL')
    },
    heapMb: () => readHeapMb(workers[0]!),
    stop: async () => void (await Promise.all(workers.map(({ child }) => end(child, 'SIGTERM')))),
    [Symbol.asyncDispose]: async () => void (await Promise.all(workers.map(({ child }) => end(child, 'SIGKILL')))),
  }
}

type Worker = ReturnType<typeof startWorker>

function startWorker({ contender, url, settings, marksPath, plain, env = {}, probeHeap = false }: WorkerOptions) {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const execArgv = [...process.execArgv, ...(probeHeap ? ['--import', heapProbe] : [])]
  const child = spawn(process.execPath, [...execArgv, program], {
    env: {
      PATH,
      HOME,
      NODE_COMPILE_CACHE,
      NODE_ENV: 'production',
      Q_HTTP: 'off',
      BENCH_CONTENDER: contender.name,
      BENCH_DATABASE: url,
      BENCH_SETTINGS: JSON.stringify(settings),
      BENCH_PLAIN: JSON.stringify(plain ?? null),
      [marksVariable]: marksPath,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  let isReady = false
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      said = `${said}${text}`
      isReady ||= said.includes(readyLine)
      said = said.slice(-outputMax)
    })
  living.add(child)
  child.once('exit', () => living.delete(child))
  return { child, isReady: () => isReady, output: () => said.trim() || 'it printed nothing.' }
}

async function readHeapMb({ child }: Worker): Promise<number> {
  const lines = createInterface({ input: child.stdout, signal: AbortSignal.timeout(heapMsMax) })
  try {
    child.kill('SIGUSR2')
    for await (const line of lines) if (line.startsWith(heapLine)) return Number(line.slice(heapLine.length)) / 2 ** 20
    throw new Error('The worker did not report its heap.')
  } finally {
    lines.close()
    child.stdout.resume()
  }
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (hasEnded(child)) return
  const exited = once(child, 'exit')
  child.kill(signal)
  const late = setTimeout(() => child.kill('SIGKILL'), stopMsMax)
  await exited
  clearTimeout(late)
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}
