/**
 * The terminal of a command: where it prints, asks and reads. stdout gets only the answer; messages for people go to
 * stderr. Commands use nothing else of the process, so tests can run them without a process.
 */
import { createInterface } from 'node:readline/promises'
import { styleText } from 'node:util'
import { printable } from '@q/schema'
import { safeText } from '../words/safe.ts'
import { progressOn } from './progress.ts'

/** The limits of a text: width, colours and characters. */
export interface Look {
  /** The width of stdout; 0 if it is not a terminal: then nothing is truncated. */
  readonly columns: number
  readonly colour: boolean
  /** Whether only ASCII characters may be used. */
  readonly ascii: boolean
}

export interface Terminal extends Look {
  readonly env: NodeJS.ProcessEnv
  /** The height of stdout; 0 if it is not a terminal. */
  readonly rows: number
  /** Whether a person can answer a question. */
  readonly canAsk: boolean
  exitCode: number
  /** Writes a line of the answer for a person. */
  print(text: string): void
  /** Writes data for a program: unchanged, except to a terminal. */
  printData(text: string): void
  /** Writes a line to the person, on stderr. */
  tell(text: string): void
  /** Replaces the progress line on stderr; an empty text removes it. */
  progress(line: string): void
  /** Replaces everything on the screen; without a terminal it prints the text. */
  redraw(text: string): void
  ask(question: string): Promise<string>
}

/** `json`: the answer is for a program. */
export function processTerminal({ json }: { readonly json: boolean }): Terminal {
  const { stdin, stdout, stderr, env } = process
  const colour = styleText('bold', 'x', { stream: stdout }) !== 'x'
  const ascii = isAscii(env)
  const progress = progressOn(stderr, { colour: styleText('bold', 'x', { stream: stderr }) !== 'x', ascii, json })
  return {
    env,
    get columns() {
      return stdout.isTTY ? stdout.columns : 0
    },
    get rows() {
      return stdout.isTTY ? stdout.rows : 0
    },
    colour,
    ascii,
    canAsk: stdin.isTTY && stderr.isTTY,
    exitCode: 0,
    print(text) {
      progress('')
      stdout.write(`${safeText(text, { colour })}\n`)
    },
    printData(text) {
      progress('')
      stdout.write(`${stdout.isTTY ? printable(text) : text}\n`)
    },
    tell(text) {
      progress('')
      stderr.write(`${printable(text)}\n`)
    },
    progress,
    redraw(text) {
      const clear = stdout.isTTY ? '\u001B[H\u001B[2J\u001B[3J' : ''
      stdout.write(`${clear}${safeText(text, { colour })}\n`)
    },
    async ask(question) {
      const reader = createInterface({ input: stdin, output: stderr })
      try {
        return await reader.question(question)
      } finally {
        reader.close()
      }
    },
  }
}

/** Decided by `Q_ASCII`, else by the locale as the C library reads it. */
export function isAscii(env: NodeJS.ProcessEnv): boolean {
  if (env['Q_ASCII'] !== undefined && env['Q_ASCII'] !== '') return env['Q_ASCII'] !== '0'
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  return locale !== '' && !/utf-?8/i.test(locale)
}
