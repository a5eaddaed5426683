/**
 * Measures and kills the programs that this process has started, directly or indirectly, as /proc lists them on Linux. On
 * other systems it finds none.
 *
 * The memory of a program is its private memory (RssAnon), so shared pages count once, for this process. The CPU time of
 * a program that has exited counts for the process that waited for it.
 */
import { readdirSync, readFileSync } from 'node:fs'

export interface ProcessUse {
  /** Since the start of the process. */
  readonly cpuMs: number
  readonly memoryMb: number
}

const megabyte = 1_048_576
const tickMs = 10 // USER_HZ is 100 on every Linux that Node runs on

/** The CPU time and memory of this process and of all programs that it started. */
export function processUse(): ProcessUse {
  const programs = withDescendants(childrenOf(process.pid))
  const { user, system } = process.cpuUsage()
  const cpuMs = programs.reduce((sum, pid) => sum + cpuMsOf(`/proc/${pid}/stat`, ['own', 'ended']), 0)
  const privateKb = programs.reduce((sum, pid) => sum + privateKbOf(pid), 0)
  return {
    cpuMs: (user + system) / 1_000 + cpuMs + cpuMsOf('/proc/self/stat', ['ended']),
    memoryMb: Math.round(process.memoryUsage.rss() / megabyte + privateKb / 1_024),
  }
}

/** The running programs that a thread of this process has started, with their descendants, parents first. */
export function startedByThread(osThreadId: number): number[] {
  return osThreadId === 0 ? [] : withDescendants(childrenOfThread(process.pid, osThreadId))
}

export function endPrograms(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // it has already exited
    }
  }
}

/** The CPU time of a process or thread, read from its `stat` file; 0 if it has exited. `ended`: the time of children it waited for. */
export function cpuMsOf(stat: string, times: readonly ('own' | 'ended')[]): number {
  const text = read(stat)
  // Count fields after the program name, which is in parentheses and may contain spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const ticksAt = (index: number) => Number(fields[index] ?? 0)
  const ticks = { own: ticksAt(11) + ticksAt(12), ended: ticksAt(13) + ticksAt(14) }
  return times.reduce((sum, time) => sum + ticks[time] * tickMs, 0)
}

function withDescendants(pids: readonly number[]): number[] {
  return pids.flatMap((pid) => [pid, ...withDescendants(childrenOf(pid))])
}

function childrenOf(pid: number): number[] {
  return threadsOf(pid).flatMap((osThreadId) => childrenOfThread(pid, osThreadId))
}

function childrenOfThread(pid: number, osThreadId: number): number[] {
  const listed = read(`/proc/${pid}/task/${osThreadId}/children`).trim()
  return listed === '' ? [] : listed.split(' ').map(Number)
}

function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number)
  } catch {
    return []
  }
}

function privateKbOf(pid: number): number {
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0)
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
