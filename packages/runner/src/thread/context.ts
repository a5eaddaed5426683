/**
 * The context that a task's function receives: created for each run from its command, its slot and the channel to the
 * main thread. Members are created on first use, because a run of a millisecond should not pay for ten closures.
 */
import { checkJson, problemsText } from '@q/schema/json'
import { durationMs, RequestRefused, type ChildRunOptions, type TaskContext, type TaskLog } from '@q/task'
import { traceEnqueue } from '@q/task/tracing'
import type { RunCommand } from '../protocol/messages.ts'
import { openCheckpoints, type Checkpoints } from './checkpoints.ts'
import type { MainThreadChannel } from './main-thread-channel.ts'
import type { RunSlot } from './run-slot.ts'
import { createTaskLog } from './task-log.ts'

export function createContext(command: RunCommand, slot: RunSlot, channel: MainThreadChannel): TaskContext {
  return Object.freeze(new Context(command, slot, channel))
}

/** Its state is private, so code that logs its whole context does not log the password of the database. */
class Context implements TaskContext {
  readonly #command: RunCommand
  readonly #slot: RunSlot
  readonly #channel: MainThreadChannel
  #log: TaskLog | undefined
  #checkpoints: Checkpoints | undefined
  #enqueue: TaskContext['enqueue'] | undefined

  constructor(command: RunCommand, slot: RunSlot, channel: MainThreadChannel) {
    this.#command = command
    this.#slot = slot
    this.#channel = channel
  }

  get runId(): string {
    return this.#command.runId
  }

  get attempt(): number {
    return this.#command.attempt
  }

  get idempotencyKey(): string {
    return `${this.#command.runId}-${this.#command.epoch}`
  }

  get lease(): TaskContext['lease'] {
    const { runId, fence } = this.#command
    return Object.freeze({ runId, fence })
  }

  get databaseUrl(): string | undefined {
    return this.#command.databaseUrl
  }

  get signal(): AbortSignal {
    return this.#slot.signal
  }

  get heartbeat(): TaskContext['heartbeat'] {
    return this.#slot.heartbeat
  }

  get progress(): TaskContext['progress'] {
    return this.#slot.heartbeat
  }

  get log(): TaskLog {
    this.#log ??= Object.freeze(
      createTaskLog((line) => {
        this.#slot.sign()
        this.#channel.send(this.#command.seq, { kind: 'log', line })
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
    const { seq, checkpoint } = this.#command
    this.#checkpoints ??= openCheckpoints(checkpoint, (state) =>
      this.#channel.request(seq, { verb: 'checkpoint', state }),
    )
    return this.#checkpoints
  }

  async #enqueueChild(
    task: string,
    payload: unknown,
    { delay, priority }: ChildRunOptions = {},
  ): Promise<{ readonly id: string }> {
    const request = {
      verb: 'enqueue',
      task,
      payload: payloadText(task, payload),
      delayMs: delay === undefined ? null : durationMs(delay),
      priority: priority ?? null,
    } as const
    const send = (trace: string | undefined) => this.#channel.request(this.#command.seq, { ...request, trace })
    return { id: await traceEnqueue({ destination: task, count: 1 }, send, (id) => id) }
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
