/** Processor time and memory of processes, as Linux reports them in /proc. */
import { readdirSync, readFileSync } from 'node:fs'

/** Length of a tick of `stat`. */
const tickUs = 10_000

interface ProcessStat {
  readonly parent: number
  /** The time of the process itself and of its children that it has waited for. */
  readonly ownUs: number
  readonly endedChildrenUs: number
}

export function parentOf(pid: number): number {
  return readStat(pid)?.parent ?? 0
}

/** Processor time of a process and all of its descendants, including ended ones. */
export function treeCpuUs(pid: number): number {
  const stat = readStat(pid)
  if (stat === undefined) return 0
  const threads = threadsOf(pid)
  const threadsUs = threads.reduce((sum, thread) => sum + (onCpuUs(`/proc/${pid}/task/${thread}/schedstat`) ?? 0), 0)
  // Ended threads are counted in ticks only.
  const ownUs = Math.max(stat.ownUs - tickUs, threadsUs)
  const children = threads.flatMap((thread) => childrenOf(pid, thread))
  return children.reduce((sum, child) => sum + treeCpuUs(child), ownUs + stat.endedChildrenUs)
}

/** Processor time of the main thread of a process. */
export function mainThreadUs(pid: number): number {
  return onCpuUs(`/proc/${pid}/task/${pid}/schedstat`) ?? 0
}

/** Memory of the process: private pages, and its share of shared pages. */
export function memoryMb(pid: number): number {
  const [, kilobytes = '0'] = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}

/** Processor time that all programs of the machine used since it started. */
export function machineBusyUs(): number {
  const [, user, nice, system, , , interrupt, softInterrupt] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)[0]!
    .split(/\s+/)
  return [user, nice, system, interrupt, softInterrupt].reduce((sum, ticks) => sum + Number(ticks) * tickUs, 0)
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/** Lists the processes that a thread started. */
function childrenOf(pid: number, thread: string): number[] {
  const text = read(`/proc/${pid}/task/${thread}/children`) ?? ''
  return text.split(' ').filter(Boolean).map(Number)
}

/** Undefined if the process has ended. */
function readStat(pid: number): ProcessStat | undefined {
  const text = read(`/proc/${pid}/stat`)
  if (text === undefined) return undefined
  // The name of the program is in parentheses and may contain anything.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const ticks = (first: number) => ((fields[first] ?? 0) + (fields[first + 1] ?? 0)) * tickUs
  return { parent: fields[1] ?? 0, ownUs: ticks(11), endedChildrenUs: ticks(13) }
}

function onCpuUs(path: string): number | undefined {
  const text = read(path)
  return text === undefined ? undefined : Number(text.split(' ', 1)[0]) / 1_000
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
