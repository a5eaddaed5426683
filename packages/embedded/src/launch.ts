/**
 * One attempt to start the server, with pg_ctl.
 *
 * pg_ctl starts the server in its own session, so it survives this process and Ctrl-C in the terminal. Paths are relative to
 * the cluster, because pg_ctl puts them into a shell command. A failed start is a return value, not an exception: the
 * caller's loop interprets it.
 */
import { randomBytes } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cluster } from './cluster.ts'
import { isDiskFull } from './disk-errors.ts'
import { sleep } from './sleep.ts'
import type { Programs } from './programs.ts'
import { runProgram } from './run-program.ts'
import { lastLines, type LogMark, markLog, readLogSince } from './server-log.ts'
import { settingsFor } from './settings.ts'

export type Launch = { readonly kind: 'launched' } | FailedLaunch

export type FailedLaunch =
  /** Another process started the server first. */
  | { readonly kind: 'raced' }
  | { readonly kind: 'port-taken' }
  /** Processes of a killed server still hold its shared memory. */
  | { readonly kind: 'orphans' }
  | { readonly kind: 'disk-full' }
  | { readonly kind: 'failed'; readonly lines: string }

export interface LaunchOrder {
  readonly port: number
  readonly durable: boolean
  readonly waitMs: number
}

const marginMs = 5_000
const logWaitMs = 5_000
const handedToCollector = 'redirecting log output to logging collector process'
const lastLine = 'database system is shut down'

export async function launch(cluster: Cluster, programs: Programs, order: LaunchOrder): Promise<Launch> {
  const mark = await markLog(cluster)
  // Output before the log is opened; one file per attempt, so that concurrent starters do not mix theirs.
  const early = join('log', `start-${randomBytes(4).toString('hex')}.log`)
  const seconds = String(Math.ceil(order.waitMs / 1000))
  const flags = ['-p', String(order.port), ...settingsFor(order.durable)].join(' ')
  const ran = await runProgram(programs.pgCtl, ['start', '-w', '-t', seconds, '-D', 'data', '-l', early, '-o', flags], {
    become: cluster.user.become,
    cwd: cluster.clusterDir,
    timeoutMs: order.waitMs + marginMs,
  })
  const earlyFile = join(cluster.clusterDir, early)
  const said = await readFile(earlyFile, 'utf8').catch(() => '')
  await rm(earlyFile, { force: true })
  if (ran.code === 0) return { kind: 'launched' }
  const logged = said.includes(handedToCollector) ? await readWholeLog(cluster, mark) : ''
  return judge(cluster, `${ran.output}\n${said}${logged}`)
}

/**
 * The log of a server that has ended. The server hands its lines to a collector process, which outlives it and writes them
 * later: the log is whole once it has the server's last line. A server that was killed writes none.
 */
async function readWholeLog(cluster: Cluster, mark: LogMark): Promise<string> {
  const deadline = performance.now() + logWaitMs
  for (;;) {
    const logged = await readLogSince(cluster, mark)
    if (logged.includes(lastLine) || performance.now() > deadline) return logged
    await sleep(20)
  }
}

async function judge(cluster: Cluster, said: string): Promise<FailedLaunch> {
  if (/lock file "postmaster\.pid" (already exists|is empty)/.test(said)) return { kind: 'raced' }
  if (/shared memory block .* is still in use/.test(said)) return { kind: 'orphans' }
  if (/Address already in use/.test(said)) return { kind: 'port-taken' }
  if (await isDiskFull(cluster.data, said)) return { kind: 'disk-full' }
  return { kind: 'failed', lines: lastLines(cluster, said) }
}
