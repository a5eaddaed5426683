/** Sends reports to a memory server, in rounds that never overlap. */
import { isAbsolute } from 'node:path'
import { ExplainedError } from '@q/schema'
import type { Report } from '../report.ts'
import type { Sender, SenderContext, SendResult } from '../sender.ts'
import { MemoryFailure } from './failure.ts'
import type { KnowledgeGraph } from './graph.ts'
import { keysUnder } from './keys.ts'
import { openMemory } from './memory.ts'
import { bytesMax, bytesOf, inRounds } from './rounds.ts'
import { readMemorySettings } from './settings.ts'
import { writeRound } from './write-round.ts'
import { writesOf } from './writes.ts'

/** No round begins after this time, so that the results of earlier rounds are not lost. */
const sendMsMax = 10_000

export async function openMemorySender({ settings, env, state, nowMs }: SenderContext): Promise<Sender> {
  const { file, command, prefix, locks } = readMemorySettings(settings)
  const keys = keysUnder(prefix)
  const memory = await openMemory({ file: file ?? fileOfReplica(env), command, nowMs })

  async function sendAll(graph: KnowledgeGraph, reports: readonly Report[]): Promise<readonly SendResult[]> {
    const results: SendResult[] = []
    const endMs = nowMs() + sendMsMax
    let later: SendResult | undefined
    for (const round of inRounds(reports.map((report) => writesOf(report, keys, { locks })))) {
      const writes = round.flat()
      if (nowMs() > endMs) later ??= postponed({ error: 'The memory server is slow.' })
      const result =
        bytesOf(writes) > bytesMax
          ? tooLarge
          : (later ?? (await resultOf(writeRound({ graph, state, keys, nowMs }, writes))))
      if (result.kind === 'failed') later = postponed(result)
      results.push(...round.map(() => result))
    }
    return results
  }

  return {
    async send(reports) {
      try {
        return await memory.exclusively((graph) => sendAll(graph, reports))
      } catch (error) {
        if (!(error instanceof MemoryFailure)) throw error
        return reports.map(() => resultOfFailure(error))
      }
    },
    test: () => resultOf(memory.test(`${prefix}/test`)),
    close: () => memory.close(),
  }
}

function fileOfReplica(env: SenderContext['env']): string {
  const file = env('Q_MEMORY_FILE')
  if (file !== undefined && isAbsolute(file)) return file
  throw new ExplainedError({
    code: 'MEMORY_FILE_MISSING',
    what: 'This replica cannot write to the memory destination.',
    why: 'The destination names no file, and Q_MEMORY_FILE of this replica is not an absolute path.',
    fix: 'Give the destination the setting "file", or set Q_MEMORY_FILE for the replicas that have the file.',
  })
}

const tooLarge: SendResult = { kind: 'rejected', error: 'The report is larger than 1 MB.' }

async function resultOf(work: Promise<void>): Promise<SendResult> {
  try {
    await work
    return { kind: 'delivered' }
  } catch (error) {
    return resultOfFailure(error instanceof MemoryFailure ? error : new MemoryFailure(String(error), { cause: error }))
  }
}

function resultOfFailure({ message, retryAfterMs, notTried }: MemoryFailure): SendResult {
  return { kind: notTried ? 'postponed' : 'failed', error: message, retryAfterMs }
}

/** The result of the rounds after a failed one: they would fail too. */
function postponed({ error, retryAfterMs = 1_000 }: { error: string; retryAfterMs?: number }): SendResult {
  return { kind: 'postponed', error, retryAfterMs }
}
