/**
 * What every slot is doing, for the replica's heartbeat and for people: bounded, plain data. Those that are being
 * stopped come first, because somebody will want to know.
 */
import type { AbortReason } from '../pulse-layout.ts'
import type { Pulse, PulseBoard } from './pulse-board.ts'

export interface ThreadFigures {
  readonly slot: number
  /** `stopping`: it was told to end and its code has not ended yet, inside a native call for instance. */
  readonly state: 'idle' | 'running' | 'stopping'
  readonly task: string | null
  readonly runId: string | null
  readonly isolation: 'thread' | 'process' | null
  readonly stoppingFor: AbortReason | null
  /** Of one core, since the last reading. */
  readonly cpuPercent: number | null
  readonly heapMb: number | null
  /** 0 to 1. */
  readonly eventLoopUse: number | null
  /** Since the code's last heartbeat, progress or log line. */
  readonly silentMs: number | null
}

export interface FigureDeps {
  readonly slots: number
  readonly pulseBoard: PulseBoard
  readonly nowMs: () => number
}

/** More slots than this are not shown: it is written with every heartbeat. */
const shownMax = 64

export function createFigures({ slots, pulseBoard, nowMs }: FigureDeps): () => ThreadFigures[] {
  const lastCpu = new WeakMap<Pulse, { readonly cpuMs: number; readonly atMs: number }>()

  function figuresOf(pulse: Pulse): ThreadFigures {
    const atMs = nowMs()
    const measured = pulse.measured()
    const last = lastCpu.get(pulse)
    if (measured !== undefined) lastCpu.set(pulse, { cpuMs: measured.cpuMs, atMs })
    const { lease, task, isolation } = pulse.facts
    return {
      slot: pulse.slot,
      state: pulse.stopping() ? 'stopping' : 'running',
      task,
      runId: lease.runId,
      isolation,
      stoppingFor: pulse.stopReason ?? null,
      cpuPercent:
        measured === undefined || last === undefined || atMs <= last.atMs
          ? null
          : Math.round(((measured.cpuMs - last.cpuMs) / (atMs - last.atMs)) * 100),
      heapMb: measured?.heapMb ?? null,
      eventLoopUse: measured?.eventLoopUse ?? null,
      silentMs: Math.round(pulse.look(atMs).silentMs),
    }
  }

  return () => {
    const busy = pulseBoard
      .all()
      .filter((pulse) => pulse.isExecuting())
      .map(figuresOf)
    const taken = new Set(busy.map(({ slot }) => slot))
    const idle = Array.from({ length: Math.min(slots, 2 * shownMax) }, (_, slot) => slot)
      .filter((slot) => !taken.has(slot))
      .map((slot) => ({ ...idleFigures, slot }))
    const order = { stopping: 0, running: 1, idle: 2 }
    return [...busy, ...idle].toSorted((a, b) => order[a.state] - order[b.state] || a.slot - b.slot).slice(0, shownMax)
  }
}

const idleFigures = {
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
