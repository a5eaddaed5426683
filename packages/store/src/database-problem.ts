/**
 * What a failing database connection or statement means to a person. Codes of PostgreSQL and of the operating system
 * are turned into one of our codes with what, why and how to fix; anything else passes through unchanged.
 */
import { ExplainedError, isExplained } from '@q/schema'
import { partsOf, placeOf } from './database-url.ts'
import { probeServer } from './server-probe.ts'

export const oldestServer = 15

interface Meaning {
  readonly code: string
  readonly what: string
  readonly why: string
  readonly fix: string
}

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

/** The error as a person should read it, or itself when we know nothing better. */
export async function explainDatabaseError(error: unknown, url: string): Promise<unknown> {
  if (isExplained(error) || !(error instanceof Error)) return error
  const meaning = byMessage(error, url) ?? byCode(codeOf(error), error.message, url) ?? (await bySilence(error, url))
  return meaning === undefined ? error : new ExplainedError({ ...meaning, cause: error })
}

/** What the driver itself objects to, before or while it connects. */
function byMessage(error: Error, url: string): Meaning | undefined {
  const place = placeOf(url)
  if (error.message.includes('password must be a')) {
    return {
      code: 'DATABASE_LOGIN_REFUSED',
      what: `The database at ${place} asks for a password.`,
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
      what: `No encrypted connection to the database at ${place} could be made.`,
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

/** A failed attempt on several addresses of one host carries its code inside. */
function codeOf(error: Error): string {
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error
  const code: unknown = inner instanceof Error ? Reflect.get(inner, 'code') : undefined
  return typeof code === 'string' ? code : ''
}

function byCode(code: string, message: string, url: string): Meaning | undefined {
  const place = placeOf(url)
  const user = partsOf(url).user || 'the current user'
  if (unreachable.has(code)) return nobodyThere(place, code)
  switch (code) {
    case '28P01':
    case '28000':
      return {
        code: 'DATABASE_LOGIN_REFUSED',
        what: `The database at ${place} refused to log in ${user}.`,
        why:
          code === '28P01'
            ? 'The password is wrong, or there is no such user.'
            : 'Its pg_hba.conf does not let this user in from here.',
        fix: 'Check user and password in DATABASE_URL (special characters must be percent-encoded).',
      }
    case '3D000':
      return {
        code: 'DATABASE_MISSING',
        what: `There is no database of that name at ${place}.`,
        why: 'The server answers, but the database in DATABASE_URL does not exist.',
        fix: 'Create it (CREATE DATABASE …), or correct the name in DATABASE_URL.',
      }
    case '53300':
      return {
        code: 'DATABASE_FULL',
        what: `The database at ${place} has no connection left for us.`,
        why: 'max_connections of the server, or the limit of the user, is reached.',
        fix: 'Close other clients or raise max_connections.',
      }
    case '42501':
      return {
        code: 'DATABASE_RIGHTS_MISSING',
        what: `${user} lacks a right in the database at ${place}: ${message}.`,
        why: 'Migrating needs CREATE on the database; working needs the rights on schema q.',
        fix: 'Migrate with a user that has it (q migrate), and give this one a role of db/roles.sql.',
      }
    case '25006':
      return readOnly(place)
    case '53100':
      return {
        code: 'DATABASE_DISK_FULL',
        what: `The database at ${place} has no disk space left.`,
        why: 'PostgreSQL could not extend a file. What was acknowledged before is safe.',
        fix: 'Free disk space on the database server; nothing else needs to be repaired.',
      }
    case '57P01':
    case '57P02':
      return connectionLost(place, message)
    case '57P03':
      return {
        code: 'DATABASE_STARTING',
        what: `The database at ${place} is starting up or shutting down.`,
        why: 'It does not take connections at the moment.',
        fix: 'Try again in a few seconds.',
      }
    default:
      return undefined
  }
}

/** Connections that broke off or never answered: ask who is there. */
async function bySilence(error: Error, url: string): Promise<Meaning | undefined> {
  if (!/terminated unexpectedly|timeout|Connection terminated/i.test(error.message)) return undefined
  const place = placeOf(url)
  switch (await probeServer(url)) {
    case 'nothing':
      return nobodyThere(place, 'no answer')
    case 'closed':
      return {
        ...nobodyThere(place, 'closed'),
        why: 'Something accepted the connection and closed it without an answer: a proxy whose server is away, or another service.',
      }
    case 'something-else':
      return {
        code: 'NOT_POSTGRESQL',
        what: `Something answers at ${place}, but it is not PostgreSQL.`,
        why: 'It does not speak the PostgreSQL protocol: the port belongs to another service.',
        fix: 'Correct host and port in DATABASE_URL; PostgreSQL usually listens on 5432.',
      }
    case 'postgresql':
      return connectionLost(place, error.message)
  }
}

function connectionLost(place: string, message: string): Meaning {
  return {
    code: 'DATABASE_CONNECTION_LOST',
    what: `The connection to the database at ${place} was lost.`,
    why: `The server answers, but it ended this connection or did not answer on it in time (${message}).`,
    fix: 'Try again; if it happens again, look at the log of the server and of any proxy in between.',
  }
}

export function readOnly(place: string): Meaning {
  return {
    code: 'DATABASE_READ_ONLY',
    what: `The database at ${place} cannot be written to.`,
    why: 'It is a standby in recovery, or opened read-only.',
    fix: 'Point DATABASE_URL at the primary.',
  }
}

function nobodyThere(place: string, code: string): Meaning {
  return {
    code: 'DATABASE_UNREACHABLE',
    what: `The database at ${place} cannot be reached.`,
    why:
      code === 'ENOTFOUND' || code === 'EAI_AGAIN'
        ? 'There is no host of that name.'
        : `Nobody answers there (${code}).`,
    fix: 'Check host and port in DATABASE_URL and that the server runs; without DATABASE_URL an embedded one is used.',
  }
}
