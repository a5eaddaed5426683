import { readFileSync } from 'node:fs'

/** Whether the process runs, and is not a zombie that waits for its parent. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
