/** The marks that the code of runs leaves in a file: one line each time that it begins. */
import { existsSync, readFileSync } from 'node:fs'

export function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
}
