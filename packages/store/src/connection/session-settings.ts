/**
 * The settings of a new connection, above all how long the server lets a statement take.
 *
 * For producers and commands the server ends a statement before the program stops waiting for it. So an enqueue that
 * failed with a time limit has inserted nothing, and inserts nothing later. A wait for a lock ends a little earlier, so
 * that the error can name it. For a replica it is the other way round: it stops waiting before the server does,
 * because it must act on silence, and its fence makes a late write harmless.
 *
 * Settings belong to a session. A pooler that lends sessions per transaction would pass them on to other programs, so
 * there each transaction gets its limits, and a single statement becomes a transaction. Such a pooler is recognised by the
 * process id of the server: the one in its greeting is not that of the backend that answers.
 */
import type { PoolClient } from 'pg'
import type { ConnectionOptions } from './db.ts'
import type { Answer } from './pipeline.ts'
import { sqlState } from './sql-state.ts'

/** Default limits of a statement: of one that a person waits for in front of a page, and of any other. */
const pageMs = 3_000
const statementMs = 30_000
/** Lock limit of a page: its statements only read, so only a schema change can hold them up. */
const pageLockMsMax = 500
/** Lock limit of an exchange: a run that a user has locked must not delay the others (work-exchange.ts). */
export const exchangeLockMsMax = 100

/** For a replica: how long after the replica stopped waiting the server ends the statement. */
const abandonedMs = 1_000
/** For a producer: how long after the server ended the statement it still waits for the answer. */
const answerMs = 5_000

/** How long the program itself waits for an answer. */
export function answerMsMax(options: ConnectionOptions): number {
  const statementMsMax = statementMsOf(options)
  return isReplica(options) ? statementMsMax : statementMsMax + answerMs
}

/** Whether the connection belongs to a replica: it has found out whether sessions last, and passes `prepare`. */
function isReplica({ purpose, prepare }: ConnectionOptions): boolean {
  return (purpose !== 'pool' && purpose !== 'page') || prepare !== undefined
}

function statementMsOf({ purpose, statementMsMax }: ConnectionOptions): number {
  return statementMsMax ?? (purpose === 'page' ? pageMs : statementMs)
}

export interface PreparedSession {
  /** Set behind a pooler that lends sessions: the SQL that each transaction must begin with. */
  readonly limitTransaction?: string
}

/** Sets the limits on the session, or returns what limits each transaction. */
export async function prepareSession(client: PoolClient, options: ConnectionOptions): Promise<PreparedSession> {
  if (options.purpose === 'migrate' || options.prepare === false) return {}
  const settings = Object.entries(settingsOf(options))
  if (isReplica(options)) {
    await client.query(settings.map(([name, value]) => `SET ${name} = '${value}';`).join(' '))
    return {}
  }
  const set = settings.map(([name, value]) => `set_config('${name}', '${value}', false)`).join(', ')
  const { rowCount } = await client.query(`SELECT ${set} WHERE pg_backend_pid() = ${announcedBackendPid(client)}`)
  return rowCount === 1 ? {} : { limitTransaction: transactionLimits(options) }
}

/** The number of the backend as the greeting gave it. */
function announcedBackendPid(client: PoolClient): number {
  return Number(Reflect.get(client, 'processID'))
}

type Settings = Readonly<Record<string, string | number>>

function settingsOf(options: ConnectionOptions): Settings {
  const { purpose, quiet = false } = options
  return {
    ...(purpose === 'control' || purpose === 'exchange' ? keptPlans : {}),
    ...limitsOf(options),
    ...(purpose === 'page' ? { default_transaction_read_only: 'on' } : {}),
    ...(quiet ? { 'q.quiet': 'on' } : {}),
    // A statement that has waited for a lock looks again, and must see what was committed in the meantime.
    default_transaction_isolation: 'read committed',
    datestyle: 'ISO',
    // Before PostgreSQL 18 a plan that needs what keptPlans switches off costs 10^10, and would be compiled each time, for a second.
    jit: 'off',
  }
}

/** Plans that are kept may use indexes and loops over few rows, and nothing else. */
const keptPlans: Settings = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
}

function limitsOf(options: ConnectionOptions): Settings {
  const { purpose } = options
  const statementMsMax = statementMsOf(options)
  const afterMs = statementMsMax + abandonedMs
  return {
    // A statement that the program no longer waits for must not keep waiting at the server.
    statement_timeout: isReplica(options) ? afterMs : statementMsMax,
    ...(isReplica(options) ? {} : { lock_timeout: Math.ceil(statementMsMax * 0.8) }),
    ...(purpose === 'exchange' ? { lock_timeout: exchangeLockMsMax } : {}),
    ...(purpose === 'page' ? { lock_timeout: pageLockMsMax } : {}),
    // A process that is stopped or cut off in the middle of a transaction must not keep runs locked.
    idle_in_transaction_session_timeout: afterMs,
  }
}

function transactionLimits(options: ConnectionOptions): string {
  const limits = { ...limitsOf(options), ...(options.purpose === 'page' ? { transaction_read_only: 'on' } : {}) }
  return Object.entries(limits)
    .map(([name, value]) => `SET LOCAL ${name} = ${value}`)
    .join('; ')
}

type Send = (text: string, values: unknown[]) => Promise<Answer>

/** Begins every transaction with its limits, and makes a transaction of a statement outside of one. */
export function inLimitedTransactions(send: Send, limits: string): Send {
  let isOpen = false
  return async (text, values) => {
    const verb = /^(begin|start transaction|commit|rollback(?! to))\b/i.exec(text)?.[1]
    if (verb === undefined) return isOpen ? send(text, values) : inOwnTransaction(send, limits, [text, values])
    isOpen = false
    if (/^(commit|rollback)/i.test(verb)) return send(text, [])
    const answer = await orRollback(send, () => send(`${text}; ${limits}`, []))
    isOpen = true
    return answer
  }
}

function inOwnTransaction(send: Send, limits: string, statement: Parameters<Send>): Promise<Answer> {
  return orRollback(send, async () => {
    await send(`BEGIN; ${limits}`, [])
    const answer = await send(...statement)
    await send('COMMIT', [])
    return answer
  })
}

/**
 * Ends the transaction if the server reported an error, also one about the limits: the next caller of the session would get an
 * aborted transaction. Without an answer the session is closed (db.ts), and nothing must wait for it.
 */
async function orRollback<T>(send: Send, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (sqlState(error) !== undefined) await send('ROLLBACK', []).catch(() => {})
    throw error
  }
}
