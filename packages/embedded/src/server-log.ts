/** The log of the server since a given time, to find out and report why it did not start. */
import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cluster } from './cluster.ts'

/** The length of each log file at that time. */
export type LogMark = ReadonlyMap<string, number>

const readBytesMax = 64 * 1024
const linesShown = 12

export async function markLog(cluster: Cluster): Promise<LogMark> {
  const names = await logFiles(cluster)
  return new Map(await Promise.all(names.map(async (name) => [name, await sizeOf(cluster, name)] as const)))
}

export async function readLogSince(cluster: Cluster, mark: LogMark): Promise<string> {
  const names = await logFiles(cluster)
  const parts = await Promise.all(names.map((name) => readFrom(join(cluster.log, name), mark.get(name) ?? 0)))
  return parts.join('')
}

/** The last lines, with the password redacted. */
export function lastLines(cluster: Cluster, said: string): string {
  return said.replaceAll(cluster.password, '***').trim().split('\n').slice(-linesShown).join('\n')
}

async function logFiles(cluster: Cluster): Promise<string[]> {
  const names = await readdir(cluster.log).catch(() => [])
  return names.filter((name) => name.startsWith('server-'))
}

async function sizeOf(cluster: Cluster, name: string): Promise<number> {
  return (await stat(join(cluster.log, name)).catch(() => undefined))?.size ?? 0
}

async function readFrom(file: string, mark: number): Promise<string> {
  try {
    await using handle = await open(file)
    const { size } = await handle.stat()
    // Shorter than before: the file of the day was truncated.
    const from = Math.max(size < mark ? 0 : mark, size - readBytesMax)
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(size - from + 1), position: from })
    return buffer.toString('utf8', 0, bytesRead)
  } catch {
    return ''
  }
}
