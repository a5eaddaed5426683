/**
 * Sends reports to issues of GitHub: comments for heartbeats and recoveries, labels and assignee for statuses. Recoveries go
 * first. After an obstacle that the other reports would meet too, such as a rate limit, they are not tried.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Report } from '../report.ts'
import type { Sender, SenderContext, SendResult } from '../sender.ts'
import { repositoryOf } from './issue.ts'
import { NotDelivered } from './api/not-delivered.ts'
import { rateLimitOf, recordRateLimit } from './api/rate-limit.ts'
import { sendReport } from './send-report.ts'
import { openSession, type Pacing, type Session } from './session.ts'
import { githubSettingsOf } from './settings.ts'

const realPacing: Pacing = {
  pause: async (ms, signal) => await wait(ms, undefined, { signal }),
  retryUnitMs: 1000,
}

export function openGithubSender(context: SenderContext, pacing: Pacing = realPacing): Sender {
  const settings = githubSettingsOf(context.settings)
  const closing = new AbortController()
  const open = async (): Promise<Session> =>
    await openSession(context, settings, { ...pacing, closing: closing.signal })
  return {
    async send(reports) {
      const results = new Map<Report, SendResult>()
      let obstacle = await obstacleOf(async () => await rateLimitOf(context))
      for (const report of recoveriesFirst(reports)) {
        const met = obstacle ?? (await obstacleOf(async () => await sendReport(await open(), report)))
        results.set(report, met?.result ?? { kind: 'delivered' })
        if (met?.blocksOthers === true) obstacle = met
      }
      if (obstacle !== undefined) await recordRateLimit(context, obstacle.result)
      return reports.map((report) => results.get(report) ?? { kind: 'failed', error: 'The report was not tried.' })
    },
    async test() {
      const met = await obstacleOf(async () => {
        const { client } = await open()
        for (const name of settings.repositories) {
          const problem = await client.repositoryProblem(repositoryOf(name))
          if (problem !== undefined) throw new NotDelivered({ kind: 'rejected', error: problem })
        }
      })
      return met?.result ?? { kind: 'delivered' }
    },
    close() {
      closing.abort(new Error('the sender closes'))
      return Promise.resolve()
    },
  }
}

function recoveriesFirst(reports: readonly Report[]): readonly Report[] {
  return reports.toSorted((a, b) => Number(b.kind === 'recovery') - Number(a.kind === 'recovery'))
}

/** Why a step did not succeed. A sender never rejects: an error of another kind is a failure too. */
async function obstacleOf(step: () => Promise<void>): Promise<NotDelivered | undefined> {
  try {
    await step()
    return undefined
  } catch (error) {
    if (error instanceof NotDelivered) return error
    return new NotDelivered({ kind: 'failed', error: error instanceof Error ? error.message : String(error) }, true)
  }
}
