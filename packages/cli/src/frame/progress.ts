/**
 * The progress line of a command, on stderr. On a terminal it is one line that is rewritten. In a log it is a plain line
 * now and then, and none before the command has run for two seconds, or if the answer is JSON: a program reads that.
 */
import { stripVTControlCharacters } from 'node:util'
import { oneLine } from '@q/schema'
import { safeLine } from '../words/safe.ts'
import { cut, widthOf } from '../words/style.ts'
import type { Look } from './terminal.ts'

/** A command that takes longer says what it waits for. */
export const quietMs = 2_000
const plainEveryMs = 10_000

export interface ProgressStream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

export interface ProgressOptions extends Pick<Look, 'colour' | 'ascii'> {
  readonly json: boolean
  /** A clock in milliseconds. */
  readonly now?: () => number
}

/** Returns the function that replaces the line; an empty text removes it. */
export function progressOn(stream: ProgressStream, options: ProgressOptions): (line: string) => void {
  return stream.isTTY === true ? rewritten(stream, options) : plain(stream, options)
}

function rewritten(stream: ProgressStream, look: Pick<Look, 'colour' | 'ascii'>): (line: string) => void {
  let isShown = false
  return (line) => {
    if (line === '' && !isShown) return
    isShown = line !== ''
    stream.write(`\r\u001B[2K${fitting(safeLine(line, look), stream.columns ?? Number.POSITIVE_INFINITY, look)}`)
  }
}

/** Rewriting a wrapped line would leave its first part on the screen. */
function fitting(line: string, columns: number, look: Pick<Look, 'ascii'>): string {
  return widthOf(line) < columns ? line : cut(stripVTControlCharacters(line), columns - 1, look)
}

function plain(
  stream: ProgressStream,
  { json, now = () => performance.now() }: ProgressOptions,
): (line: string) => void {
  let nextAt = now() + quietMs
  return (line) => {
    if (json || line === '' || now() < nextAt) return
    nextAt = now() + plainEveryMs
    stream.write(`${oneLine(stripVTControlCharacters(line)).trimEnd()}\n`)
  }
}
