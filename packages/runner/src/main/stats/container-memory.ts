/**
 * The memory limit of this process: the lowest limit of its control group and of the groups above it (a slice of systemd,
 * a pod), which Node itself does not read. It is read once; a file that cannot be read limits nothing.
 *
 * Supports both layouts: one hierarchy for everything (`memory.max`), or one for memory alone. Inside a container the path
 * may not exist; the group of the process is then the root of the hierarchy.
 */
import { readFileSync } from 'node:fs'

const megabyte = 1_048_576
const hierarchies = {
  unified: { root: '/sys/fs/cgroup', file: 'memory.max' },
  memory: { root: '/sys/fs/cgroup/memory', file: 'memory.limit_in_bytes' },
}

/** Returns 0 if there is no limit. `own`: the limit that Node reports, which counts even if no file can be read. */
export function containerMb(
  read: (path: string) => string = readText,
  own: number = process.constrainedMemory(),
): number {
  const limits = groupsOf(read('/proc/self/cgroup')).map((path) => Number(read(path) || 'none'))
  const bytes = Math.min(...limits.filter((limit) => limit > 0), own > 0 ? own : Number.POSITIVE_INFINITY)
  return Number.isFinite(bytes) ? bytes / megabyte : 0
}

/** The files to read, of every group that this process is in. */
function groupsOf(listed: string): string[] {
  return listed.split('\n').flatMap((line) => {
    const [, controllers, path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    if (controllers === '') return upwards(hierarchies.unified, path)
    return controllers?.split(',').includes('memory') ? upwards(hierarchies.memory, path) : []
  })
}

function upwards({ root, file }: { root: string; file: string }, path: string): string[] {
  const names = path.split('/').filter((name) => name !== '' && name !== '..')
  return Array.from({ length: names.length + 1 }, (_, depth) => [root, ...names.slice(0, depth), file].join('/'))
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}
