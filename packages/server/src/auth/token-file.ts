/**
 * The default token: `q_` and 32 random bytes, in a file that only its owner can read. The file appears complete, and
 * once, so programs that start at the same time use one token.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { ExplainedError } from '@q/schema'

export function newToken(): string {
  return `q_${randomBytes(32).toString('base64url')}`
}

/** Reads the token; creates one if there is no file. */
export function readOrMakeToken(path: string): string {
  mkdirSync(dirname(path), { recursive: true })
  try {
    if (!existsSync(path)) makeToken(path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw unusable(path, error)
  }
  return readToken(path)
}

/** Writes the token beside its place first: another program must not read a file that is still empty. */
function makeToken(path: string): void {
  const beside = `${path}.${randomUUID()}`
  try {
    writeFileSync(beside, `${newToken()}\n`, { mode: 0o600, flag: 'wx' })
    placeOnce(beside, path)
  } finally {
    rmSync(beside, { force: true })
  }
}

/** Throws EEXIST if the file exists. */
function placeOnce(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw error
    // Some file systems have no links.
    copyFileSync(from, to, constants.COPYFILE_EXCL)
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? Reflect.get(error, 'code') : undefined
}

/** Replaces the token: requests with the old one, or with its sessions, are refused from then on. */
export function replaceToken(path: string): string {
  const token = newToken()
  const beside = `${path}.${process.pid}`
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(beside, `${token}\n`, { mode: 0o600 })
  chmodSync(beside, 0o600)
  renameSync(beside, path)
  return token
}

export function readToken(path: string): string {
  requirePrivate(path)
  let token: string
  try {
    token = readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw unusable(path, error)
  }
  if (/^[\w.~+/=-]{16,200}$/.test(token)) return token
  throw new ExplainedError({
    code: 'TOKEN_FILE_INVALID',
    what: `${path} does not contain a token.`,
    why: 'A token is one line of 16 to 200 letters, digits or . _ ~ + / = -',
    fix: 'Write one with `q token --replace`, or remove the file: the next start makes one.',
  })
}

/** Rejects a token file that other users can read. */
export function requirePrivate(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined || process.platform === 'win32') return
  const uid = process.getuid?.()
  const isForeign = uid !== undefined && uid !== 0 && stats.uid !== uid
  if (!isForeign && (stats.mode & 0o077) === 0) return
  throw new ExplainedError({
    code: 'TOKEN_FILE_EXPOSED',
    what: `${path} is not private.`,
    why: isForeign ? 'It belongs to another user.' : 'Other users of this machine can read or change it.',
    fix: isForeign ? 'Remove it, or name another file in Q_HTTP_TOKEN_FILE.' : `chmod 600 ${path}`,
  })
}

function unusable(path: string, cause: unknown): ExplainedError {
  return new ExplainedError({
    code: 'TOKEN_FILE_INVALID',
    what: `${path} cannot be used.`,
    why: cause instanceof Error ? cause.message : 'The file system refused it.',
    fix: 'Correct its permissions, or name another file in Q_HTTP_TOKEN_FILE.',
    cause,
  })
}
