/**
 * The activity of every slot, for the replica's heartbeat and for people: bounded, plain data. Slots whose run is being
 * stopped come first, because people look for them.
 */
import type { AbortReason } from '../../protocol/slot-layout.ts'
import type { RunMonitor } from '../liveness/run-monitor.ts'
import type { RunMonitors } from '../liveness/run-monitors.ts'

export interface SlotStats {
  readonly slot: number
  /** `stopping`: a stop was requested and the code has not ended yet, for instance inside a native call. */
  readonly state: 'idle' | 'running' | 'stopping'
  readonly task: string | null
  readonly runId: string | null
  readonly isolation: 'thread' | 'process' | null
  readonly stoppingFor: AbortReason | null
  /** CPU time since the last reading, as a share of one core. */
  readonly cpuPercent: number | null
  readonly heapMb: number | null
  /** 0 to 1. */
  readonly eventLoopUse: number | null
  /** Since the code's last heartbeat, progress or log line. */
  readonly silentMs: number | null
}

export interface SlotStatsDeps {
  readonly slots: number
  readonly runMonitors: RunMonitors
  readonly nowMs: () => number
}

/** Further slots are not shown, because every heartbeat writes this list. */
const shownMax = 64

export function createSlotStats({ slots, runMonitors, nowMs }: SlotStatsDeps): () => SlotStats[] {
  const lastCpu = new WeakMap<RunMonitor, { readonly cpuMs: number; readonly atMs: number }>()

  function statsOf(monitor: RunMonitor): SlotStats {
    const atMs = nowMs()
    const usage = monitor.usage()
    const last = lastCpu.get(monitor)
    if (usage !== undefined) lastCpu.set(monitor, { cpuMs: usage.cpuMs, atMs })
    const { lease, task, isolation } = monitor.facts
    return {
      slot: monitor.slot,
      state: monitor.stopping() ? 'stopping' : 'running',
      task,
      runId: lease.runId,
      isolation,
      stoppingFor: monitor.stopReason ?? null,
      cpuPercent:
        usage === undefined || last === undefined || atMs <= last.atMs
          ? null
          : Math.round(((usage.cpuMs - last.cpuMs) / (atMs - last.atMs)) * 100),
      heapMb: usage?.heapMb ?? null,
      eventLoopUse: usage?.eventLoopUse ?? null,
      silentMs: Math.round(monitor.look(atMs).silentMs),
    }
  }

  return () => {
    const busy = runMonitors
      .all()
      .filter((monitor) => monitor.isExecuting())
      .map(statsOf)
    const taken = new Set(busy.map(({ slot }) => slot))
    const idle = Array.from({ length: Math.min(slots, 2 * shownMax) }, (_, slot) => slot)
      .filter((slot) => !taken.has(slot))
      .map((slot) => ({ ...idleStats, slot }))
    const order = { stopping: 0, running: 1, idle: 2 }
    return [...busy, ...idle].toSorted((a, b) => order[a.state] - order[b.state] || a.slot - b.slot).slice(0, shownMax)
  }
}

const idleStats = {
  state: 'idle',
  task: null,
  runId: null,
  isolation: null,
  stoppingFor: null,
  cpuPercent: null,
  heapMb: null,
  eventLoopUse: null,
  silentMs: null,
} as const
