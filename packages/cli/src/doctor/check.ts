/**
 * A check of `q doctor` and its finding. Each check has its own time limit, and a check that fails or hangs does not
 * stop the others.
 */
import type { ServerFacts, Node, AttentionReport, Store } from '@q/store'
import { setTimeout as sleep } from 'node:timers/promises'

export type Level = 'ok' | 'note' | 'warn' | 'fail' | 'skipped'

export interface CheckOutcome {
  readonly level: Level
  /** One sentence. */
  readonly what: string
  /** The consequence; empty for `ok`. */
  readonly why: string
  /** A command, a statement or a setting that helps; empty: there is nothing to do. */
  readonly fix: string
}

export interface CheckResult extends CheckOutcome {
  readonly id: string
  readonly tookMs: number
}

export interface Check {
  /** `group.check` */
  readonly id: string
  look(surroundings: Surroundings): Promise<CheckOutcome>
}

/** The facts that checks use. Facts that several checks need are read only once. */
export interface Surroundings {
  readonly store: Store
  readonly url: string
  /** The URL in `DATABASE_URL_DIRECT`, else the same URL. */
  readonly directUrl: string
  readonly embedded: boolean
  readonly env: NodeJS.ProcessEnv
  /** The memory limit of the container; 0: none. */
  readonly memoryLimitMb: number
  server(): Promise<ServerFacts>
  nodes(): Promise<readonly Node[]>
  attention(): Promise<AttentionReport>
}

const limitMs = 3_000

export function ok(what: string): CheckOutcome {
  return { level: 'ok', what, why: '', fix: '' }
}

export function skipped(what: string): CheckOutcome {
  return { level: 'skipped', what, why: '', fix: '' }
}

export async function runCheck(check: Check, surroundings: Surroundings): Promise<CheckResult> {
  const begun = performance.now()
  const done = new AbortController()
  const outcome = await Promise.race([
    check.look(surroundings).catch((error) => withoutAnswer(error, surroundings)),
    sleep(limitMs, undefined, { signal: done.signal }).then(() => late, failed),
  ])
  done.abort()
  return { id: check.id, ...outcome, tookMs: Math.round(performance.now() - begun) }
}

const late: CheckOutcome = {
  level: 'warn',
  what: `The check did not end within ${limitMs / 1_000} s.`,
  why: 'The server is slow or overloaded.',
  fix: 'Try again; look at the load of the database server.',
}

/** Most checks need the primary. On a standby only `reach.primary` is worth reading. */
async function withoutAnswer(error: unknown, { server }: Surroundings): Promise<CheckOutcome> {
  const isReadOnly = !isWritable(await server())
  return isReadOnly && isRefusedThere(error) ? skipped('It needs a server that can be written to.') : failed(error)
}

export function isWritable({ isStandby, settings }: ServerFacts): boolean {
  return !isStandby && settings.transaction_read_only === 'off'
}

/** Read-only transactions, unlogged tables during recovery, and our own code for both. */
const codesThere: ReadonlySet<unknown> = new Set(['25006', '0A000', 'DATABASE_READ_ONLY'])

function isRefusedThere(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return codesThere.has(Reflect.get(error, 'code')) || isRefusedThere(error.cause)
}

function failed(error: unknown): CheckOutcome {
  return {
    level: 'warn',
    what: `The check itself failed: ${error instanceof Error ? error.message : String(error)}`,
    why: 'Its result is unknown.',
    fix: 'Q_DEBUG=1 q doctor',
  }
}
