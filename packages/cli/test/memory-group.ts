/** A control group with a memory limit, as a container has one. Needs the right to make one: without it, undefined. */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'

export interface MemoryGroup extends Disposable {
  /** A process that writes its id here enters the group. */
  readonly members: string
}

/** One hierarchy for memory alone, or one for everything. */
const hierarchies = [
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes' },
  { root: '/sys/fs/cgroup', limit: 'memory.max' },
]

export function memoryGroup(limitMb: number): MemoryGroup | undefined {
  const found = hierarchies.find(({ root }) => existsSync(`${root}/cgroup.procs`))
  if (found === undefined) return undefined
  const folder = `${found.root}/q-test-${process.pid}-${limitMb}`
  try {
    mkdirSync(folder)
    writeFileSync(`${folder}/${found.limit}`, String(limitMb * 1_048_576))
  } catch {
    remove(folder)
    return undefined
  }
  return { members: `${folder}/cgroup.procs`, [Symbol.dispose]: () => remove(folder) }
}

function remove(folder: string): void {
  if (existsSync(folder)) rmdirSync(folder)
}
