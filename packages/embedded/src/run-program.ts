import { spawn } from 'node:child_process'

export interface Identity {
  readonly uid: number
  readonly gid: number
}

export interface RunOptions {
  /** Become this user first. Only root can; undefined means stay who we are. */
  readonly become: Identity | undefined
  readonly timeoutMs: number
  readonly cwd?: string
}

export interface Ran {
  /** null: it could not be started, or was ended by the timeout. */
  readonly code: number | null
  /** stdout and stderr as they came, or the reason why it could not be started. */
  readonly output: string
}

const OUTPUT_CHARS_MAX = 64_000

/**
 * Runs one of PostgreSQL's programs to its end.
 *
 * In a session of its own, so that Ctrl-C in the caller's terminal does not cut it in half. With an environment of its
 * own: messages in English because we read them, and no PG* variable of the caller's (PGPORT, PGDATA, …) gets in.
 */
export function runProgram(file: string, args: readonly string[], options: RunOptions): Promise<Ran> {
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
      output = (output + chunk.toString()).slice(-OUTPUT_CHARS_MAX)
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
