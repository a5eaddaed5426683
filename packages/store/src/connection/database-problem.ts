/**
 * Explains a failed connection or statement to a person. Codes of PostgreSQL and of the operating system become one of
 * our codes with what, why and fix; any other error passes through unchanged.
 */
import { ExplainedError, isExplained } from '@q/schema'
import { explainSilence, connectionLost, noServer, type ErrorExplanation } from './broken-connection.ts'
import type { Origin } from './db.ts'
import { serverOf, type ServerAddress } from './server-of.ts'
import { isAboutConnection, sqlState } from './sql-state.ts'

export const oldestServer = 15

const unreachable = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
])

/** Returns the error with an explanation, or the error itself if there is none. */
export async function explainDatabaseError(error: unknown, origin: Origin | undefined): Promise<unknown> {
  if (isExplained(error) || !(error instanceof Error)) return error
  const server = serverOf(origin)
  const meaning =
    byMessage(error, server) ??
    byCode(codeOf(error), error, server) ??
    (isAnswer(error) ? undefined : await explainSilence(error, server))
  return meaning === undefined ? error : new ExplainedError({ ...meaning, cause: error })
}

/**
 * The same for a program that uses q as a library: every error of the database is explained, with the original as its
 * `cause`. Errors that are not of the database stay as they are.
 */
export async function explainEveryDatabaseError(error: unknown, origin: Origin | undefined): Promise<unknown> {
  const explained = await explainDatabaseError(error, origin)
  const state = sqlState(error) ?? sqlState(causeOf(error))
  if (isExplained(explained) || state === undefined || !(error instanceof Error)) return explained
  return new ExplainedError({
    code: 'DATABASE_ERROR',
    what: `The database${serverOf(origin).at} rejected a statement of q: ${error.message}.`,
    why: `PostgreSQL reports SQLSTATE ${state}. The statement wrote nothing.`,
    fix: 'Look the code up in the documentation of PostgreSQL; if your own triggers or settings do not cause it, report it.',
    cause: error,
  })
}

/** Errors of the driver itself, before or while it connects. */
function byMessage(error: Error, { at }: ServerAddress): ErrorExplanation | undefined {
  if (error.message.includes('password must be a')) {
    return {
      code: 'DATABASE_LOGIN_REFUSED',
      what: `The database${at} asks for a password.`,
      why: 'There is none in DATABASE_URL.',
      fix: 'Write it like postgresql://user:password@host:5432/database.',
    }
  }
  if (
    error.message.includes('does not support SSL') ||
    codeOf(error).startsWith('ERR_TLS') ||
    codeOf(error) === 'DEPTH_ZERO_SELF_SIGNED_CERT'
  ) {
    return {
      code: 'DATABASE_TLS_REFUSED',
      what: `No encrypted connection to the database${at} could be made.`,
      why: `${error.message}.`,
      fix: 'Correct sslmode in DATABASE_URL, or the certificates it names.',
    }
  }
  if (codeOf(error) === 'ENOENT' && Reflect.get(error, 'syscall') === 'open') {
    return {
      code: 'DATABASE_TLS_REFUSED',
      what: 'A certificate that DATABASE_URL names cannot be read.',
      why: `${error.message}.`,
      fix: 'Correct sslrootcert, sslcert or sslkey in DATABASE_URL.',
    }
  }
  return undefined
}

/** Some libraries have the error of the driver as `cause`; an attempt on several addresses of one host has one error for each. */
function codeOf(error: Error): string {
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error
  const code = sqlState(error) ?? sqlState(causeOf(error)) ?? memberOf(inner, 'code')
  return typeof code === 'string' ? code : ''
}

/** Whether the server answered the statement: its message may contain any word, but the connection is not broken. */
function isAnswer(error: Error): boolean {
  return !isAboutConnection(error) || !isAboutConnection(causeOf(error))
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined
}

function memberOf(error: unknown, name: string): unknown {
  return error instanceof Error ? Reflect.get(error, name) : undefined
}

function byCode(code: string, error: Error, server: ServerAddress): ErrorExplanation | undefined {
  if (unreachable.has(code)) return noServer(server.at, code)
  return connectionProblem(code, error, server) ?? statementProblem(code, error, server)
}

/** The server refuses or ends the connection. */
function connectionProblem(code: string, error: Error, { at, user }: ServerAddress): ErrorExplanation | undefined {
  switch (code) {
    case '28P01':
    case '28000':
      return {
        code: 'DATABASE_LOGIN_REFUSED',
        what: `The database${at} refused to log in ${user}.`,
        ...refusal(code, error),
      }
    case '3D000':
      return {
        code: 'DATABASE_MISSING',
        what: `There is no database of that name${at}.`,
        why: 'The server answers, but the database in DATABASE_URL does not exist.',
        fix: 'Create it (CREATE DATABASE …), or correct the name in DATABASE_URL.',
      }
    case '53300':
      return {
        code: 'DATABASE_FULL',
        what: `The database${at} has no connection left for us.`,
        why: 'max_connections of the server, or the limit of the user, is reached.',
        fix: 'Close other clients or raise max_connections.',
      }
    case '57P01':
    case '57P02':
      return connectionLost(at, error.message)
    case '57P03':
      return {
        code: 'DATABASE_STARTING',
        what: `The database${at} is starting up or shutting down.`,
        why: 'It does not take connections at the moment.',
        fix: 'Try again in a few seconds.',
      }
    default:
      return undefined
  }
}

/** The server refuses a statement. */
function statementProblem(code: string, error: Error, { at, user }: ServerAddress): ErrorExplanation | undefined {
  switch (code) {
    case '42501':
      return {
        code: 'DATABASE_RIGHTS_MISSING',
        what: `${user} lacks a right in the database${at}: ${error.message}.`,
        why: 'Migrating needs CREATE on the database; working needs the rights on schema q.',
        fix: 'Migrate with a user that has it (q migrate), and give this one a role of db/roles.sql.',
      }
    case '42P01':
    case '3F000':
    case '42883':
    case '42703':
      return {
        code: 'SCHEMA_BEHIND',
        what: `The database${at} lacks a part of schema q that this program needs: ${error.message}.`,
        why: 'Schema q was never created in this database, or an older release created it.',
        fix: 'Run q migrate against this database, or correct DATABASE_URL.',
      }
    case '25006':
      return readOnly(at)
    case '53100':
      return {
        code: 'DATABASE_DISK_FULL',
        what: `The database${at} has no disk space left.`,
        why: 'PostgreSQL could not extend a file. Writes that it acknowledged before are safe.',
        fix: 'Free disk space on the database server; nothing else needs to be repaired.',
      }
    case '55P03':
      return {
        code: 'DATABASE_LOCKED',
        what: `A statement waited too long for a lock in the database${at}; it wrote nothing.`,
        why: 'An open transaction of another session holds the same unique key, or a row that the statement needs.',
        fix: 'End that transaction (pg_stat_activity shows it), then try again.',
      }
    case '57014':
      return {
        code: 'DATABASE_TIMEOUT',
        what: `The database${at} cancelled a statement that took too long; it wrote nothing.`,
        why: `The server is overloaded, or the statement waited for an open transaction: ${error.message}.`,
        fix: 'Try again; if it happens often, look at the load of the server and at pg_stat_activity.',
      }
    case '40001':
    case '40P01':
      return {
        code: 'DATABASE_CONFLICT',
        what: `The database${at} ended a transaction in favour of another; it wrote nothing.`,
        why: `Two transactions needed the same rows at the same time: ${error.message}.`,
        fix: 'Try again.',
      }
    default:
      return undefined
  }
}

/** 28000 has several causes; the name of the server's routine tells them apart in every language. */
function refusal(code: string, error: Error): Pick<ErrorExplanation, 'why' | 'fix'> {
  if (code === '28P01') {
    return {
      why: 'The password is wrong, or there is no such user.',
      fix: 'Check user and password in DATABASE_URL (special characters must be percent-encoded).',
    }
  }
  if (memberOf(error, 'routine') === 'ClientAuthentication') {
    return {
      why: `Its pg_hba.conf does not let this user in from here: ${error.message}.`,
      fix: 'Add a line for this user, database and address to pg_hba.conf, or use another user.',
    }
  }
  return {
    why: `${error.message}.`,
    fix: 'Create the role (CREATE ROLE … LOGIN), or correct the user in DATABASE_URL.',
  }
}

export function readOnly(at: string): ErrorExplanation {
  return {
    code: 'DATABASE_READ_ONLY',
    what: `The database${at} cannot be written to.`,
    why: 'It is a standby in recovery, or opened read-only.',
    fix: 'Point DATABASE_URL at the primary.',
  }
}
