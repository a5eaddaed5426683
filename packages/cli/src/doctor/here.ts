/** Group `here`: the machine of this command, as far as it affects a replica. */
import { readFileSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { tokenPlace } from '@q/server/secrets'
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

/** A replica claims nothing above this share of its container's memory, whatever its settings say. */
const containerShare = 0.9

/** Control groups of version 1 report a limit beyond every machine if there is none. */
const unlimitedMb = 2 ** 30

const memory: Check = {
  id: 'here.memory',
  async look({ env, memoryLimitMb }) {
    if (memoryLimitMb <= 0 || memoryLimitMb >= unlimitedMb) return skipped('No memory limit of a container is visible.')
    const most = Math.floor(memoryLimitMb * containerShare)
    const set = Number(env['Q_UNHEALTHY_MB'] || 0)
    if (set <= most)
      return ok(
        `The container may use ${Math.round(memoryLimitMb)} MB; a replica claims nothing above ${set || Math.min(most, unhealthyMbDefault)} MB.`,
      )
    return {
      level: 'note',
      what: `Q_UNHEALTHY_MB is ${set}, but the container may use only ${Math.round(memoryLimitMb)} MB.`,
      why: `The setting has no effect: a replica claims nothing above 90 % of the container's memory, ${most} MB.`,
      fix: `Unset it, set Q_UNHEALTHY_MB=${most} or less, or raise the limit of the container.`,
    }
  },
}

const unhealthyMbDefault = 8_192

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
