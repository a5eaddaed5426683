/**
 * A check of `q doctor` and its finding. Each check has its own time limit, and a check that fails or hangs does not
 * stop the others.
 */
import {
  oldestServer,
  type ServerFacts,
  type MigrationPlan,
  type Node,
  type AttentionReport,
  type Store,
} from '@q/store'
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
  migrations(): Promise<MigrationPlan>
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

/**
 * Most checks need the primary, and tables of q. Where one of these is missing, the check that reports it fails, and the
 * others are skipped.
 */
async function withoutAnswer(error: unknown, { server, migrations }: Surroundings): Promise<CheckOutcome> {
  const facts = await server()
  if (!isWritable(facts) && hasCode(error, codesOfReadOnly)) return skipped('It needs a server that can be written to.')
  if (isTooOld(facts) && hasCode(error, codesWithoutSchema))
    return skipped(`It needs PostgreSQL ${oldestServer} or newer.`)
  if (hasCode(error, codesWithoutSchema) && (await migrations()).pending.length > 0)
    return skipped('It needs the migrations that are pending.')
  return failed(error)
}

export function isWritable({ isStandby, settings }: ServerFacts): boolean {
  return !isStandby && settings.transaction_read_only === 'off'
}

export function isTooOld({ versionNumber }: ServerFacts): boolean {
  return versionNumber < oldestServer * 10_000
}

/** Read-only transactions, unlogged tables during recovery, and our own code for both. */
const codesOfReadOnly: ReadonlySet<unknown> = new Set(['25006', '0A000', 'DATABASE_READ_ONLY'])

/** A table, schema, function or column is missing, and our own codes for it and for a server without the schema. */
const codesWithoutSchema: ReadonlySet<unknown> = new Set([
  '42P01',
  '3F000',
  '42883',
  '42703',
  'SCHEMA_BEHIND',
  'DATABASE_TOO_OLD',
])

function hasCode(error: unknown, codes: ReadonlySet<unknown>): boolean {
  if (!(error instanceof Error)) return false
  return codes.has(Reflect.get(error, 'code')) || hasCode(error.cause, codes)
}

function failed(error: unknown): CheckOutcome {
  return {
    level: 'warn',
    what: `The check itself failed: ${error instanceof Error ? error.message : String(error)}`,
    why: 'Its result is unknown.',
    fix: 'Q_DEBUG=1 q doctor',
  }
}
