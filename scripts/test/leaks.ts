/** The threads, child processes, sockets and timers of this process. Child processes are seen on Linux alone. */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'

/** How long a closed resource may take to end. */
export const endingMsMax = Number(process.env['Q_TEST_ENDING_MS'] ?? 10_000)

const threads = new Set<Worker>()
process.on('worker', (thread) => {
  threads.add(thread)
  thread.once('exit', () => threads.delete(thread))
})

/** One line for each resource. */
export function resources(): string[] {
  return [...threadNames(), ...childNames(), ...handleNames()]
}

/** The resources that exist now and did not before. Waits for resources that are ending. */
export async function leaksSince(before: readonly string[]): Promise<string[]> {
  for (const end = performance.now() + endingMsMax; ;) {
    const leaks = without(resources(), before)
    if (leaks.length === 0 || performance.now() > end) return leaks
    await sleep(20, undefined, { ref: false })
  }
}

function threadNames(): string[] {
  return [...threads].map(({ threadId, threadName }) => `thread ${threadId} (${threadName})`)
}

function childNames(): string[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid) || parentOf(pid) !== process.pid) return []
      return `child process ${pid}: ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim()}`
    } catch {
      return [] // it has ended
    }
  })
}

/** The field after the name, which stands in parentheses and may contain anything, and the state. */
function parentOf(pid: string): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return Number(stat.slice(stat.lastIndexOf(')') + 1).split(' ')[2])
}

function handleNames(): string[] {
  return process.getActiveResourcesInfo().filter((kind) => /^(TCP|Pipe|UDP|Timeout|FSEvent)/.test(kind))
}

/** A list may contain a line several times. */
function without(lines: readonly string[], known: readonly string[]): string[] {
  const rest = [...known]
  return lines.filter((line) => {
    const index = rest.indexOf(line)
    if (index !== -1) rest.splice(index, 1)
    return index === -1
  })
}
