/**
 * One child process. It gets a filtered environment and one run at a time, and is killed together with all programs it
 * started, except those that created their own process group. The heartbeats that it relays are written into the run's
 * slot, as if a thread of this process had written them.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { FromChild, Relayed, ToChild } from '../../protocol/child-messages.ts'
import type { RunReport } from '../../protocol/messages.ts'
import { mirrorSlot } from '../../protocol/slot-layout.ts'
import { within } from '../loop.ts'
import type { Usage } from '../liveness/run-evidence.ts'
import type { Execution, Executor } from './executor.ts'

export interface Child {
  readonly memoryLimitMb: number | null
  /** Executes one run at a time. */
  readonly run: Executor['run']
  /** How many runs it has been given. */
  readonly runs: number
  /** Whether it can be given another run. */
  readonly usable: () => boolean
  /** Resolves when the process has exited. */
  readonly gone: Promise<void>
  kill(): void
}

export interface ChildSetup {
  readonly taskModules: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly memoryLimitMb: number | null
  /** The runner's shared memory. */
  readonly slotMemory: SharedArrayBuffer
}

export function startChild({ taskModules, env, memoryLimitMb, slotMemory: memory }: ChildSetup): Child {
  const process = forkChild(env)
  const lastErrors = keepTail(process)
  const { promise: gone, resolve } = Promise.withResolvers<void>()
  let activeRun: ActiveRun | undefined
  let spent = false
  let runs = 0
  const died = (death: Death) => {
    activeRun?.died(death)
    resolve()
  }
  process.on('message', (message: FromChild) => activeRun?.onMessage(message))
  process.on('error', (error) => died({ code: null, signal: null, error }))
  process.on('exit', (code, signal) => {
    killGroup(process) // programs that it started may still run
    // The end of its standard error may not have arrived yet.
    void within(stderrMs, once(process, 'close')).then(() => died({ code, signal }))
  })
  const send = (message: ToChild) => void (process.connected && process.send(message, () => {}))
  send({ kind: 'setup', taskModules, memoryLimitMb })

  return {
    memoryLimitMb,
    get runs() {
      return runs
    },
    usable: () => process.connected && !spent,
    gone,
    kill: () => killGroup(process),
    run(command, { monitor, terminate, onMessage }): Execution {
      runs++
      let usage: Usage | undefined
      const { promise: report, resolve: end } = Promise.withResolvers<RunReport>()
      const own: ActiveRun = {
        onMessage(message) {
          if (message.kind === 'slot') {
            mirrorSlot(memory, monitor.slot, monitor.seq, message)
            usage = usageOf(message)
          }
          if (message.kind === 'thread-message')
            onMessage(message.threadMessage, (reply) => sendForOwn({ kind: 'reply', reply }))
          if (message.kind !== 'report') return
          activeRun = undefined
          spent = message.spent
          end(message.report)
        },
        died: (death) => end(terminate.aborted ? { ended: 'aborted' } : deathReport(death, lastErrors.text())),
      }
      // After the report the child may have another run, which must not receive messages for this one.
      const sendForOwn = (message: ToChild) => void (activeRun === own && send(message))
      activeRun = own
      lastErrors.clear()
      monitor.signal.addEventListener(
        'abort',
        () => monitor.stopReason && sendForOwn({ kind: 'abort', reason: monitor.stopReason }),
      )
      terminate.addEventListener('abort', () => killGroup(process))
      monitor.onFenceDeadline((fenceDeadlineMs) => sendForOwn({ kind: 'extend', fenceDeadlineMs }))
      send({ kind: 'run', command, fenceDeadlineMs: monitor.fenceDeadlineMs() })
      return { report, measure: () => usage }
    },
  }
}

/** The run that the child executes. */
interface ActiveRun {
  onMessage(message: FromChild): void
  died(death: Death): void
}

const stderrMs = 1_000

function usageOf({ cpuMs, heapMb, eventLoopUse }: Relayed): Usage {
  return { cpuMs, heapMb, eventLoopUse }
}

function forkChild(env: NodeJS.ProcessEnv): ChildProcess {
  return fork(new URL(import.meta.resolve('@q/runner/child')), {
    env,
    execArgv: process.execArgv.filter((argument) => !argument.startsWith('--inspect')),
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true, // creates a process group, which is killed as a whole
  })
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // it has already exited
  }
}

const tailBytes = 4_096

interface Tail {
  text(): string
  /** Drops the output of earlier runs, which does not explain the death of the next one. */
  clear(): void
}

/** Copies the child's output to this process, and keeps the end of its standard error, which may name the cause of its death. */
function keepTail({ stdout, stderr }: ChildProcess): Tail {
  let tail = ''
  stdout?.on('data', (chunk: Buffer) => void process.stdout.write(chunk))
  stderr?.on('data', (chunk: Buffer) => {
    process.stderr.write(chunk)
    tail = (tail + chunk.toString()).slice(-tailBytes)
  })
  return { text: () => tail, clear: () => void (tail = '') }
}

interface Death {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly error?: Error
}

/** Matches the text that V8 prints before it aborts, and not error messages of the code that only mention memory. */
const ranOutOfMemory = /\bfatal\b.*\b(out of memory|allocation failed)/i

function deathReport({ code, signal, error }: Death, lastErrors: string): RunReport {
  const how = error?.message ?? (signal === null ? `it exited with code ${code}` : `it was ended by ${signal}`)
  if (ranOutOfMemory.test(lastErrors)) {
    return { ended: 'crashed', code: 'OUT_OF_MEMORY', detail: `The child process ran out of memory: ${how}.` }
  }
  const hint =
    signal === 'SIGKILL' ? ' The replica did not send it; often the kernel does when the machine is out of memory.' : ''
  return { ended: 'crashed', code: 'WORKER_CRASHED', detail: `The child process died: ${how}.${hint}` }
}
