/**
 * Tokens with a name and a scope, one per line of a file: `name scope sha256`. The tokens themselves are not stored.
 */
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ExplainedError } from '@q/schema'
import { tokenScopes, type TokenScope } from './scopes.ts'
import { newToken, requirePrivate } from './token-file.ts'

export interface NamedToken {
  readonly name: string
  readonly scope: TokenScope
  readonly digest: Buffer
}

/** The name under which actions of the default token are recorded. */
export const ownerName = 'owner'

const tokenLine = new RegExp(`^(\\S{1,100})\\s+(${tokenScopes.join('|')})\\s+([\\da-f]{64})$`)

export function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

export function readNamedTokens(path: string): NamedToken[] {
  requirePrivate(path)
  const names = new Set([ownerName])
  return readLines(path).flatMap((line, place) => {
    const text = line.replace(/#.*/, '').trim()
    if (text === '') return []
    const [, name, scope, digest] = tokenLine.exec(text) ?? []
    if (name === undefined || digest === undefined) throw wrongLine(path, place + 1)
    // Sessions, the audit log and workers know a token by its name.
    if (names.has(name)) throw takenName(path, place + 1, name)
    names.add(name)
    return { name, scope: scope as TokenScope, digest: Buffer.from(digest, 'hex') }
  })
}

/** Returns names and scopes of the tokens; an empty list if there is no file yet. */
export function namedTokens(path: string): Pick<NamedToken, 'name' | 'scope'>[] {
  return existsSync(path) ? readNamedTokens(path).map(({ name, scope }) => ({ name, scope })) : []
}

/** Adds a token to the file and returns it; it cannot be read again. */
export function addNamedToken(path: string, { name, scope }: Pick<NamedToken, 'name' | 'scope'>): string {
  const isTaken = name === ownerName || namedTokens(path).some((one) => one.name === name)
  if (isTaken || !/^[^\s#]{1,100}$/.test(name)) throw wrongName(name, isTaken)
  const token = newToken()
  mkdirSync(dirname(path), { recursive: true })
  // An editor may have left the last line without its end.
  const end = existsSync(path) && !/(^|\n)$/.test(readFileSync(path, 'utf8')) ? '\n' : ''
  appendFileSync(path, `${end}${name} ${scope} ${digestOf(token).toString('hex')}\n`, { mode: 0o600 })
  return token
}

/** Removes a token and returns whether it existed. Comments and other lines do not change. */
export function removeNamedToken(path: string, name: string): boolean {
  if (!namedTokens(path).some((one) => one.name === name)) return false
  const kept = readLines(path).filter((line) => !new RegExp(`^\\s*${RegExp.escape(name)}\\s`).test(line))
  const beside = `${path}.${process.pid}`
  writeFileSync(beside, kept.join('\n'), { mode: 0o600 })
  renameSync(beside, path)
  return true
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch (cause) {
    throw new ExplainedError({
      code: 'TOKENS_FILE_INVALID',
      what: `${path} cannot be read.`,
      why: cause instanceof Error ? cause.message : 'The file system refused it.',
      fix: 'Correct Q_HTTP_TOKENS_FILE, or make the file with `q token new --name <name>`.',
      cause,
    })
  }
}

function wrongLine(path: string, line: number): ExplainedError {
  return new ExplainedError({
    code: 'TOKENS_FILE_INVALID',
    what: `Line ${line} of ${path} is not a token.`,
    why: 'A line is `name scope sha256`: scope is read, enqueue, work or admin, and sha256 has 64 hex digits.',
    fix: 'Correct the line, or add a token with `q token new --name grafana --scope read`.',
  })
}

function takenName(path: string, line: number, name: string): ExplainedError {
  return new ExplainedError({
    code: 'TOKENS_FILE_INVALID',
    what: `Line ${line} of ${path} repeats the name "${name}".`,
    why: `Two tokens of one name could not be distinguished; "${ownerName}" is the default token.`,
    fix: 'Give the token of that line another name.',
  })
}

function wrongName(name: string, isTaken: boolean): ExplainedError {
  return new ExplainedError({
    code: 'TOKEN_NAME_INVALID',
    what: `"${name}" cannot be the name of a new token.`,
    why: isTaken ? 'Another token has that name.' : 'A name has 1 to 100 characters, without spaces and #.',
    fix: isTaken
      ? `Choose another name, or revoke the other token: q token revoke '${name}'`
      : 'Use a name like grafana.',
  })
}
