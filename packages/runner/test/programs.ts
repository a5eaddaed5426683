/** Process ids of a command line, as Linux lists them. */
import { readdirSync, readFileSync } from 'node:fs'

export function programs(command: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim() === command
    } catch {
      return false // it has ended since
    }
  })
}
