/** Runs and threads for tests of the dispatch. */
import type { ClaimedRun, HeldRun } from '@q/store'
import type { DispatchedRun } from '../src/main/dispatch/watch-run.ts'
import type { HandedRun } from '../src/main/executors/handed-runs.ts'
import { slotMemoryAt } from '../src/protocol/slot-layout.ts'
import type { RunReport } from '../src/protocol/messages.ts'
import { endByMessage, tryBegin } from '../src/protocol/ring-layout.ts'
import { startedRun, threadsScene, type PlayedThread, type SceneOptions, type ThreadsScene } from './threads-scene.ts'

export const crash: RunReport = { ended: 'crashed', code: 'WORKER_CRASHED', detail: 'It died.' }

/** Threads that know how short the runs are. */
export function practised(count: number, options?: SceneOptions): ThreadsScene {
  const scene = threadsScene(count, options)
  scene.startAhead.record('short', 1)
  return scene
}

export const runs = (...ids: string[]): ClaimedRun[] => ids.map((id) => startedRun(id))

export const idsOf = (list: readonly { readonly runId: string }[]) => list.map(({ runId }) => runId)

const idOf = (handed: HandedRun | undefined) => (handed as DispatchedRun | undefined)?.run.runId

export const waitingAt = ({ feed }: PlayedThread) => feed.waiting().map(idOf)

export const asHeld = (run: ClaimedRun): HeldRun => ({ ...run, status: 'RUNNING' })

export function threadAt({ threads }: ThreadsScene, slot: number): PlayedThread {
  const thread = threads[slot]
  if (thread === undefined) throw new Error(`There is no thread ${slot}.`)
  return thread
}

/** Its code has been running for so much longer. */
export function age(scene: ThreadsScene, slot: number, ms: number): void {
  const { beganAt } = slotMemoryAt(scene.runMonitors.memory, slot)
  beganAt[0] = (beganAt[0] ?? 0) - ms
}

export function fail({ feed, ring }: PlayedThread, handed: HandedRun | undefined): void {
  const seq = handed?.command.seq ?? 0
  tryBegin(ring(), seq)
  feed.onMessage({ kind: 'report', seq, report: { ended: 'failed', code: 'TASK_ERROR', detail: 'It threw.' } })
  endByMessage(ring(), seq, 1)
  feed.collect()
}
