/**
 * One child process, as the runner sees it: forked with an environment of its own, asked to run one order at a time,
 * and killed with everything it started, unless that made a process group of its own. What its main thread relays is
 * written into the run's own pulse slot, as if a thread of ours had written it.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { FromChild, Relayed, ToChild } from '../child-protocol.ts'
import type { RunReport } from '../protocol.ts'
import { mirrorPulse } from '../pulse-layout.ts'
import { within } from './loop.ts'
import type { Measured } from './pulse-board.ts'
import type { Running, Workplace } from './workplace.ts'

export interface Child {
  readonly memoryLimitMb: number | null
  /** One at a time. */
  readonly run: Workplace['run']
  /** How many it has been given. */
  readonly runs: number
  /** It can be given another run. */
  readonly usable: () => boolean
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>
  kill(): void
}

export interface ChildSetup {
  readonly taskModules: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly memoryLimitMb: number | null
  /** The runner's pulse slots. */
  readonly pulse: SharedArrayBuffer
}

export function startChild({ taskModules, env, memoryLimitMb, pulse: memory }: ChildSetup): Child {
  const process = forkChild(env)
  const lastErrors = keepTail(process)
  const { promise: gone, resolve } = Promise.withResolvers<void>()
  let inHand: InHand | undefined
  let spent = false
  let runs = 0
  const died = (death: Death) => {
    inHand?.died(death)
    resolve()
  }
  process.on('message', (message: FromChild) => inHand?.hear(message))
  process.on('error', (error) => died({ code: null, signal: null, error }))
  process.on('exit', (code, signal) => {
    killGroup(process) // what it started, if it did not end with it
    // Its last words on standard error may still be on the way.
    void within(lastWordsMs, once(process, 'close')).then(() => died({ code, signal }))
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
    run(order, { pulse, terminate, hear }): Running {
      runs++
      let measured: Measured | undefined
      const { promise: report, resolve: end } = Promise.withResolvers<RunReport>()
      const own: InHand = {
        hear(message) {
          if (message.kind === 'pulse') {
            mirrorPulse(memory, pulse.slot, pulse.seq, message)
            measured = measuredOf(message)
          }
          if (message.kind === 'said') hear(message.said, (answer) => sendForOwn({ kind: 'answer', answer }))
          if (message.kind !== 'report') return
          inHand = undefined
          spent = message.spent
          end(message.report)
        },
        died: (death) => end(terminate.aborted ? { ended: 'aborted' } : deathReport(death, lastErrors.text())),
      }
      // What comes when it has reported is not for the run that the child has by then.
      const sendForOwn = (message: ToChild) => void (inHand === own && send(message))
      inHand = own
      lastErrors.forget()
      pulse.signal.addEventListener(
        'abort',
        () => pulse.stopReason && sendForOwn({ kind: 'abort', reason: pulse.stopReason }),
      )
      terminate.addEventListener('abort', () => killGroup(process))
      pulse.onFenceDeadline((fenceDeadlineMs) => sendForOwn({ kind: 'extend', fenceDeadlineMs }))
      send({ kind: 'run', order, fenceDeadlineMs: pulse.fenceDeadlineMs() })
      return { report, measure: () => measured }
    },
  }
}

/** The run it has been given. */
interface InHand {
  hear(message: FromChild): void
  died(death: Death): void
}

const lastWordsMs = 1_000

function measuredOf({ cpuMs, heapMb, eventLoopUse }: Relayed): Measured {
  return { cpuMs, heapMb, eventLoopUse }
}

function forkChild(env: NodeJS.ProcessEnv): ChildProcess {
  return fork(new URL(import.meta.resolve('@q/runner/child')), {
    env,
    execArgv: process.execArgv.filter((argument) => !argument.startsWith('--inspect')),
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true, // a process group of its own, so that it can be killed with all it started
  })
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // gone already
  }
}

const tailBytes = 4_096

interface Tail {
  text(): string
  /** What was written so far is not what the next run dies of. */
  forget(): void
}

/** Copies its output to ours, and keeps the end of standard error, which may name the cause of its death. */
function keepTail({ stdout, stderr }: ChildProcess): Tail {
  let tail = ''
  stdout?.on('data', (chunk: Buffer) => void process.stdout.write(chunk))
  stderr?.on('data', (chunk: Buffer) => {
    process.stderr.write(chunk)
    tail = (tail + chunk.toString()).slice(-tailBytes)
  })
  return { text: () => tail, forget: () => void (tail = '') }
}

interface Death {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly error?: Error
}

/** V8's words before it aborts; the code may complain about memory, too, and die of something else. */
const ranOutOfMemory = /\bfatal\b.*\b(out of memory|allocation failed)/i

function deathReport({ code, signal, error }: Death, lastErrors: string): RunReport {
  const how = error?.message ?? (signal === null ? `it exited with code ${code}` : `it was ended by ${signal}`)
  if (ranOutOfMemory.test(lastErrors)) {
    return { ended: 'crashed', code: 'OUT_OF_MEMORY', detail: `The child process ran out of memory: ${how}.` }
  }
  const hint =
    signal === 'SIGKILL' ? ' Nobody here sent that; often it is the kernel, when the machine is out of memory.' : ''
  return { ended: 'crashed', code: 'WORKER_CRASHED', detail: `The child process died: ${how}.${hint}` }
}
