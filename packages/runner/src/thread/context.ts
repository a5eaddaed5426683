/**
 * What a task's function is given: made for each run from its order, its pulse and the line to the main thread. A member
 * that the code does not use is not made: a run of a millisecond should not pay for ten closures.
 */
import { checkJson, problemsText } from '@q/schema/json'
import { durationMs, RequestRefused, type ChildRunOptions, type TaskContext, type TaskLog } from '@q/task'
import type { RunOrder } from '../protocol.ts'
import { openCheckpoints, type Checkpoints } from './checkpoints.ts'
import type { MainLine } from './main-line.ts'
import type { WorkerPulse } from './pulse.ts'
import { createTaskLog } from './task-log.ts'

export function createContext(order: RunOrder, pulse: WorkerPulse, line: MainLine): TaskContext {
  return Object.freeze(new Context(order, pulse, line))
}

/** Its state is private, so code that logs its whole context does not log the password of the database. */
class Context implements TaskContext {
  readonly #order: RunOrder
  readonly #pulse: WorkerPulse
  readonly #line: MainLine
  #log: TaskLog | undefined
  #checkpoints: Checkpoints | undefined
  #enqueue: TaskContext['enqueue'] | undefined

  constructor(order: RunOrder, pulse: WorkerPulse, line: MainLine) {
    this.#order = order
    this.#pulse = pulse
    this.#line = line
  }

  get runId(): string {
    return this.#order.runId
  }

  get attempt(): number {
    return this.#order.attempt
  }

  get idempotencyKey(): string {
    return `${this.#order.runId}-${this.#order.epoch}`
  }

  get lease(): TaskContext['lease'] {
    const { runId, fence } = this.#order
    return Object.freeze({ runId, fence })
  }

  get databaseUrl(): string | undefined {
    return this.#order.databaseUrl
  }

  get signal(): AbortSignal {
    return this.#pulse.signal
  }

  get heartbeat(): TaskContext['heartbeat'] {
    return this.#pulse.heartbeat
  }

  get progress(): TaskContext['progress'] {
    return this.#pulse.heartbeat
  }

  get log(): TaskLog {
    this.#log ??= Object.freeze(
      createTaskLog((line) => {
        this.#pulse.sign()
        this.#line.say(this.#order.seq, { kind: 'log', line })
      }),
    )
    return this.#log
  }

  get resumed(): TaskContext['resumed'] {
    return this.#saved.resumed
  }

  get checkpoint(): TaskContext['checkpoint'] {
    return this.#saved.checkpoint
  }

  get once(): TaskContext['once'] {
    return this.#saved.once
  }

  get enqueue(): TaskContext['enqueue'] {
    this.#enqueue ??= (task, payload, options) => this.#enqueueChild(task, payload, options)
    return this.#enqueue
  }

  get #saved(): Checkpoints {
    const { seq, checkpoint } = this.#order
    this.#checkpoints ??= openCheckpoints(checkpoint, (state) => this.#line.ask(seq, { verb: 'checkpoint', state }))
    return this.#checkpoints
  }

  async #enqueueChild(
    task: string,
    payload: unknown,
    { delay, priority }: ChildRunOptions = {},
  ): Promise<{ readonly id: string }> {
    const id = await this.#line.ask(this.#order.seq, {
      verb: 'enqueue',
      task,
      payload: payloadText(task, payload),
      delayMs: delay === undefined ? null : durationMs(delay),
      priority: priority ?? null,
    })
    return { id }
  }
}

function payloadText(task: string, payload: unknown): string {
  const checked = checkJson(payload)
  if (checked.ok) return checked.text
  throw new RequestRefused({
    code: 'PAYLOAD_NOT_JSON',
    what: `The payload for ${task} cannot be stored; nothing was enqueued.`,
    why: `${problemsText(checked.problems)}.`,
    fix: 'Pass plain data, at most 1 MiB as JSON.',
  })
}
