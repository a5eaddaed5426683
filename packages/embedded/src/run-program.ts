import { spawn } from 'node:child_process'

export interface ProcessIdentity {
  readonly uid: number
  readonly gid: number
}

export interface ProgramOptions {
  /** Run as this user, which only root can do; undefined keeps the current user. */
  readonly become: ProcessIdentity | undefined
  readonly timeoutMs: number
  readonly cwd?: string
}

export interface ProgramResult {
  /** null if it could not be started or the timeout ended it. */
  readonly code: number | null
  /** stdout and stderr interleaved, or the reason why it could not be started. */
  readonly output: string
}

const outputCharsMax = 64_000

/**
 * Runs one of PostgreSQL's programs to completion.
 *
 * It runs in its own session, so that Ctrl-C in the terminal does not interrupt it, and with its own environment: messages in
 * English because we parse them, and none of the caller's PG* variables (PGPORT, PGDATA, …).
 */
export function runProgram(file: string, args: readonly string[], options: ProgramOptions): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      ...options.become,
      cwd: options.cwd ?? '/',
      detached: true,
      env: { LC_ALL: 'C', HOME: '/', PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-outputCharsMax)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    const timeout = setTimeout(() => {
      output += `\nended after ${options.timeoutMs} ms`
      child.kill('SIGKILL')
      child.stdout.destroy()
      child.stderr.destroy()
    }, options.timeoutMs)
    const finish = (code: number | null): void => {
      clearTimeout(timeout)
      resolve({ code, output: output.trim() })
    }
    child.once('error', (error) => {
      output += error.message
      finish(null)
    })
    child.once('close', finish)
  })
}
