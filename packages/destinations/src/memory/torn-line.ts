/**
 * Explains why a memory server answers every call with an error. It reads the whole file for each call, so a single
 * line that is not JSON (written by an editor or onto a full disk) makes all calls fail until a person repairs it.
 */
import { readFile } from 'node:fs/promises'

/** Returns the server's error, or names the line of the file that causes it. */
export async function explainServerError(error: string, file: string): Promise<string> {
  const line = await tornLine(file)
  return line === undefined
    ? error
    : `line ${line} of ${file} is not JSON, so the server refuses every call. Repair or remove that line. (${error})`
}

/** The number of the first line that is not JSON, from 1. Undefined: there is none, or the file cannot be read here. */
async function tornLine(file: string): Promise<number | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const index = text.split('\n').findIndex((line) => line.trim() !== '' && !isJson(line))
  return index === -1 ? undefined : index + 1
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}
