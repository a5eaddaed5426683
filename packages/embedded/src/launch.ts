/**
 * One attempt to start the server, with pg_ctl.
 *
 * The server gets a session of its own (pg_ctl does that), so it outlives us and our terminal's Ctrl-C. Paths are given
 * relative to the cluster, because pg_ctl puts them into a shell command. A failed start is an answer, not an error:
 * the caller's loop decides what it means.
 */
import { randomBytes } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cluster } from './cluster.ts'
import { isDiskFull } from './disk-trouble.ts'
import type { Programs } from './programs.ts'
import { runProgram } from './run-program.ts'
import { lastLines, markLog, readLogSince } from './server-log.ts'
import { settingsFor } from './settings.ts'

export type Launch = { readonly kind: 'launched' } | FailedLaunch

export type FailedLaunch =
  /** Somebody else's server came first. */
  | { readonly kind: 'raced' }
  | { readonly kind: 'port-taken' }
  /** Processes of a killed server still hold its memory. */
  | { readonly kind: 'orphans' }
  | { readonly kind: 'disk-full' }
  | { readonly kind: 'failed'; readonly lines: string }

export interface LaunchOrder {
  readonly port: number
  readonly durable: boolean
  readonly waitMs: number
}

const MARGIN_MS = 5_000

export async function launch(cluster: Cluster, programs: Programs, order: LaunchOrder): Promise<Launch> {
  const mark = await markLog(cluster)
  // What is said before the log is opened; a file per attempt, so that racing starters do not read each other's.
  const early = join('log', `start-${randomBytes(4).toString('hex')}.log`)
  const seconds = String(Math.ceil(order.waitMs / 1000))
  const flags = ['-p', String(order.port), ...settingsFor(order.durable)].join(' ')
  const ran = await runProgram(programs.pgCtl, ['start', '-w', '-t', seconds, '-D', 'data', '-l', early, '-o', flags], {
    become: cluster.user.become,
    cwd: cluster.clusterDir,
    timeoutMs: order.waitMs + MARGIN_MS,
  })
  const earlyFile = join(cluster.clusterDir, early)
  const said = (await readFile(earlyFile, 'utf8').catch(() => '')) + (await readLogSince(cluster, mark))
  await rm(earlyFile, { force: true })
  return ran.code === 0 ? { kind: 'launched' } : judge(cluster, `${ran.output}\n${said}`)
}

async function judge(cluster: Cluster, said: string): Promise<FailedLaunch> {
  if (/lock file "postmaster\.pid" (already exists|is empty)/.test(said)) return { kind: 'raced' }
  if (/shared memory block .* is still in use/.test(said)) return { kind: 'orphans' }
  if (/Address already in use/.test(said)) return { kind: 'port-taken' }
  if (await isDiskFull(cluster.data, said)) return { kind: 'disk-full' }
  return { kind: 'failed', lines: lastLines(cluster, said) }
}
