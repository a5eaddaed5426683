/** A thread that the test plays, fed by the main thread. */
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import type { HandedRun, Receiver } from '../src/main/executors/handed-runs.ts'
import { createThreadFeed } from '../src/main/executors/thread-feed.ts'
import type { FromThread, RunCommand, RunReport } from '../src/protocol/messages.ts'
import { endWithResult, tryBegin, type Ring } from '../src/protocol/ring-layout.ts'
import { decodeBatch } from '../src/protocol/batch-encoding.ts'

export const crash: RunReport = { ended: 'crashed', code: 'WORKER_CRASHED', detail: 'It died.' }

export const failed: RunReport = { ended: 'failed', code: 'TASK_ERROR', detail: 'It threw.' }

export function fed() {
  const feed = createThreadFeed(0)
  const answers: [number, ...unknown[]][] = []
  const receiver: Receiver = {
    ended: ({ command }, report, tookMs) => void answers.push([command.seq, report, tookMs]),
    returned: ({ command }, why) => void answers.push([command.seq, why]),
    onMessage: ({ command }, message) => void answers.push([command.seq, message.kind]),
  }
  const runs: HandedRun[] = []
  /** Hands over the runs with these numbers; without any, the next run. */
  const handOver = (...seqs: number[]) => {
    const numbers = seqs.length === 0 ? [runs.length + 1] : seqs
    const handed = numbers.map((seq) => (runs[seq - 1] = { command: commandOf(seq), receiver }))
    feed.handOver(handed)
    return handed
  }
  return { feed, answers, runs, handOver, receiver, live: () => liveOf(feed) }
}

/** A thread begins its life. */
function liveOf(feed: ReturnType<typeof createThreadFeed>) {
  const { port1, port2 } = new MessageChannel()
  port1.unref()
  port2.unref()
  const ring = feed.open(port1)
  return {
    ring,
    send: (message: FromThread) => port2.postMessage(message),
    /** The numbers of the runs it has been sent. */
    received(): number[] {
      const commands: RunCommand[] = []
      for (let next = receiveMessageOnPort(port2); next !== undefined; next = receiveMessageOnPort(port2))
        decodeBatch(next.message as unknown[], commands)
      return commands.map(({ seq }) => seq)
    },
  }
}

export function succeed(ring: Ring, seq: number, result = String(seq)): void {
  tryBegin(ring, seq)
  endWithResult(ring, seq, 1, result)
}

export function commandOf(seq: number): RunCommand {
  const lease = { runId: String(seq), fence: 1, epoch: 1, attempt: 1 }
  return { seq, fenced: false, ...lease, task: 't', payload: '{}', checkpoint: null, databaseUrl: undefined }
}

export const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)
