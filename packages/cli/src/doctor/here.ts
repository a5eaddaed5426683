/** Group `here`: the machine of this command, as far as it affects a replica. */
import { readFileSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { ok, skipped, type Check } from './check.ts'

const nodeVersion: Check = {
  id: 'here.node',
  async look() {
    return ok(`Node ${process.versions.node} on ${process.platform} ${process.arch}.`)
  },
}

const threads: Check = {
  id: 'here.threads',
  async look({ env }) {
    const cores = availableParallelism()
    const wanted = Number(env['Q_THREADS'] || cores)
    const what = `${wanted} threads on ${cores} core${cores === 1 ? '' : 's'}.`
    if (!(wanted > 2 * cores)) return ok(what)
    return {
      level: 'note',
      what,
      why: 'CPU-heavy runs share the cores: each takes longer, and heartbeats may be late.',
      fix: `Set Q_THREADS=${cores} on this machine.`,
    }
  },
}

const memory: Check = {
  id: 'here.memory',
  async look({ env }) {
    const limitMb = memoryLimitMb()
    const unhealthyMb = Number(env['Q_UNHEALTHY_MB'] || 8_192)
    if (limitMb === undefined) return skipped('No memory limit of a container is visible.')
    if (limitMb >= unhealthyMb)
      return ok(`The container may use ${limitMb} MB; a replica is unhealthy from ${unhealthyMb} MB.`)
    return {
      level: 'note',
      what: `The container may use ${limitMb} MB, and a replica calls itself unhealthy only from ${unhealthyMb} MB.`,
      why: 'The kernel ends the process before it stops claiming.',
      fix: `Set Q_UNHEALTHY_MB=${Math.round(limitMb * 0.9)} and Q_DEGRADED_MB=${Math.round(limitMb * 0.7)}.`,
    }
  },
}

/** The memory limit of the control group, version 2 or 1; undefined: none. */
function memoryLimitMb(): number | undefined {
  for (const file of ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes']) {
    try {
      const bytes = Number(readFileSync(file, 'utf8').trim())
      if (Number.isFinite(bytes) && bytes < 2 ** 50) return Math.round(bytes / 2 ** 20)
    } catch {
      // The other version of control groups, or none.
    }
  }
  return undefined
}

const files: Check = {
  id: 'here.files',
  async look() {
    const limit = openFilesMax()
    if (limit === undefined) return skipped('The limit of open files is not visible.')
    if (limit >= 1_024) return ok(`${limit} files may be open.`)
    return {
      level: 'warn',
      what: `Only ${limit} files may be open.`,
      why: 'Every connection, thread and child process needs some.',
      fix: 'ulimit -n 4096',
    }
  },
}

function openFilesMax(): number | undefined {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))
    return found === null ? undefined : Number(found[1])
  } catch {
    return undefined
  }
}

const database: Check = {
  id: 'here.database',
  async look({ embedded }) {
    if (!embedded) return ok('DATABASE_URL names the database.')
    return {
      level: 'note',
      what: 'DATABASE_URL is not set: this is the embedded PostgreSQL of this folder.',
      why: 'Other machines cannot join it.',
      fix: 'Set DATABASE_URL to share a database.',
    }
  },
}

const token: Check = {
  id: 'here.token',
  async look({ env }) {
    const { tokenPlace } = await import('@q/server')
    const file = tokenPlace(env)
    const stats = statSync(file, { throwIfNoEntry: false })
    if (stats === undefined) return skipped('There is no token: the first server creates one.')
    if ((stats.mode & 0o077) === 0 || process.platform === 'win32') return ok(`${file} is private.`)
    return {
      level: 'fail',
      what: `Other users of this machine can read or change ${file}.`,
      why: 'A program that has the token may do everything on the page and through the HTTP API.',
      fix: `chmod 600 ${file} && q token --replace`,
    }
  },
}

export const hereChecks: readonly Check[] = [nodeVersion, database, threads, memory, files, token]
