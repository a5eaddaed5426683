/**
 * Explains to a person a connection that could not be made, broke, or did not answer. The error of the driver does not
 * tell which of these it was, so a probe asks the server (server-probe.ts).
 */
import type { ServerAddress } from './server-of.ts'
import { probeServer } from './server-probe.ts'

/** An error as a person reads it. */
export interface ErrorExplanation {
  readonly code: string
  readonly what: string
  readonly why: string
  readonly fix: string
}

/** For a connection that broke or did not answer; undefined: the error is another one. */
export async function explainSilence(
  error: Error,
  { at, host, port }: ServerAddress,
): Promise<ErrorExplanation | undefined> {
  if (!/terminated|timeout|not queryable|socket/i.test(error.message)) return undefined
  switch (await probeServer({ host, port })) {
    case 'nothing':
      return noServer(at, 'no answer')
    case 'closed':
      return {
        ...noServer(at, 'closed'),
        why: 'Something accepted the connection and closed it without an answer: a proxy whose server is away, or another service.',
      }
    case 'something-else':
      return {
        code: 'NOT_POSTGRESQL',
        what: `Something answers${at}, but it is not PostgreSQL.`,
        why: 'It does not speak the PostgreSQL protocol: the port belongs to another service.',
        fix: 'Correct host and port in DATABASE_URL; PostgreSQL usually listens on 5432.',
      }
    case 'postgresql':
      return interrupted(at, error.message)
  }
}

/** For a server that answers now, but did not answer the statement, or not in time. */
function interrupted(at: string, message: string): ErrorExplanation | undefined {
  if (message.includes('when trying to connect')) {
    return {
      code: 'DATABASE_BUSY',
      what: `No connection to the database${at} became free in time; nothing was sent.`,
      why: 'Every connection of this pool is in use, or the server is slow to accept a new one.',
      fix: 'Try again; if it happens often, look for statements that wait for locks (pg_stat_activity).',
    }
  }
  if (message.includes('read timeout')) {
    return {
      code: 'DATABASE_TIMEOUT',
      what: `The database${at} did not answer a statement in time.`,
      why: 'The network or the server is stalled. Whether the statement took effect is unknown.',
      fix: 'Look before you repeat an enqueue, or give the run a unique key, so that repeating it is safe.',
    }
  }
  return connectionLost(at, message)
}

/** The server answers, but it ended this connection. */
export function connectionLost(at: string, message: string): ErrorExplanation {
  return {
    code: 'DATABASE_CONNECTION_LOST',
    what: `The connection to the database${at} was lost.`,
    why: `The server answers, but it ended this connection (${message}). Whether the last statement took effect is unknown.`,
    fix: 'Try again (an enqueue with a unique key can be repeated safely); if it happens again, look at the log of the server and of any proxy in between.',
  }
}

/** No PostgreSQL answers at the address. `code`: of the operating system. */
export function noServer(at: string, code: string): ErrorExplanation {
  return {
    code: 'DATABASE_UNREACHABLE',
    what: `The database${at} cannot be reached.`,
    why:
      code === 'ENOTFOUND' || code === 'EAI_AGAIN'
        ? 'There is no host of that name.'
        : `No server answers there (${code}).`,
    fix: 'Check host and port in DATABASE_URL and that the server runs; without DATABASE_URL an embedded one is used.',
  }
}
