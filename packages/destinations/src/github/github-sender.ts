/**
 * Sends reports to GitHub issues: comments for heartbeats and recoveries, labels and assignee for statuses. Recoveries
 * go first. If one report fails for a reason that affects all others, such as a rate limit, the sender does not try the
 * others.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Report } from '../report.ts'
import type { Sender, SenderContext, SendResult } from '../sender.ts'
import { NotDelivered, outOfTime } from './api/not-delivered.ts'
import { rateLimitOf } from './api/rate-limit.ts'
import { repositoryOf } from './issue.ts'
import { sendReport } from './send-report.ts'
import { type Bounds, openGithubSession, type Pacing } from './session.ts'
import { githubSettingsOf } from './settings.ts'

const realPacing: Pacing = {
  pause: async (ms, signal) => await wait(ms, undefined, { signal }),
  retryUnitMs: 1000,
}

/**
 * The outbox gives up a call after 30 s: no report begins after the first limit, and no request lasts beyond the
 * second.
 */
const beginMsMax = 12_000
const sendMsMax = 25_000

export function openGithubSender(context: SenderContext, pacing: Pacing = realPacing): Sender {
  const { nowMs } = context
  const settings = githubSettingsOf(context.settings)
  const closing = new AbortController()
  const bounds = (): Bounds => ({
    signal: AbortSignal.any([closing.signal, AbortSignal.timeout(sendMsMax)]),
    stopAtMs: nowMs() + beginMsMax,
  })

  async function send(reports: readonly Report[]): Promise<readonly SendResult[]> {
    const limits = bounds()
    const results = new Map<Report, SendResult>()
    const rateLimit = async (): Promise<NotDelivered | undefined> =>
      await obstacleOf(async () => await rateLimitOf(context))
    let obstacle = await rateLimit()
    for (const report of recoveriesFirst(reports)) {
      if (nowMs() >= limits.stopAtMs) obstacle ??= outOfTime()
      const met = obstacle ?? (await obstacleOf(async () => await sendOne(report, limits)))
      results.set(report, met?.result ?? { kind: 'delivered' })
      if (met?.blocksOthers === true) obstacle ??= (await rateLimit()) ?? met
    }
    return reports.map((report) => results.get(report) ?? outOfTime().result)
  }

  async function sendOne(report: Report, limits: Bounds): Promise<void> {
    await sendReport(await openGithubSession(context, settings, { ...pacing, ...limits }), report)
  }

  async function test(): Promise<void> {
    const { client } = await openGithubSession(context, settings, { ...pacing, ...bounds() })
    for (const name of settings.repositories) {
      const problem = await client.repositoryProblem(repositoryOf(name))
      if (problem !== undefined) throw new NotDelivered({ kind: 'rejected', error: problem })
    }
  }

  return {
    send,
    test: async () => (await obstacleOf(test))?.result ?? { kind: 'delivered' },
    close() {
      closing.abort(new Error('the sender closes'))
      return Promise.resolve()
    },
  }
}

function recoveriesFirst(reports: readonly Report[]): readonly Report[] {
  return reports.toSorted((a, b) => Number(b.kind === 'recovery') - Number(a.kind === 'recovery'))
}

/** Why a step failed. A sender never rejects, so every error becomes a result. */
async function obstacleOf(step: () => Promise<void>): Promise<NotDelivered | undefined> {
  try {
    await step()
    return undefined
  } catch (error) {
    if (error instanceof NotDelivered) return error
    const text = error instanceof Error ? error.message : String(error)
    return new NotDelivered({ kind: 'failed', error: text }, { blocksOthers: true })
  }
}
