/** Sends each kind of report to GitHub. A report without an issue is skipped. */
import type { HeartbeatAlert, Report, RunEnded, RunStatusChange } from '../report.ts'
import { alertText } from './comment-texts.ts'
import { putComment } from './comments.ts'
import { followStatus, phaseOf, writesOfChange } from './follow-status.ts'
import { sendHeartbeat } from './heartbeats.ts'
import { repositoryOf } from './issue.ts'
import { sendRecovery } from './recovery.ts'
import { requireWrites, type GithubSession } from './session.ts'

export async function sendReport(session: GithubSession, report: Report): Promise<void> {
  switch (report.kind) {
    case 'recovery':
      return await sendRecovery(session, report.payload)
    case 'heartbeat':
      return await sendHeartbeat(session, report)
    case 'status':
      return report.payload.of === 'run' ? await sendStatus(session, report.payload) : undefined
    case 'run-ended':
      return await sendStatus(session, report.payload)
    case 'alert':
      return await sendAlert(session, report.payload)
    case 'sample':
      return undefined
  }
}

async function sendStatus(session: GithubSession, run: RunStatusChange | RunEnded): Promise<void> {
  const issue = session.issueOf(run)
  const writes = writesOfChange(session.settings)
  if (issue === undefined || writes === 0) return
  await requireWrites(session, issue, writes, 'other')
  await followStatus(session, issue, { phase: phaseOf(run.status), atMs: Date.parse(run.at) })
}

async function sendAlert(session: GithubSession, alert: HeartbeatAlert): Promise<void> {
  const { heartbeatIssue: number, repositories } = session.settings
  if (number === undefined) return
  const issue = { ...repositoryOf(repositories[0] ?? ''), number }
  const worker = session.workerName(alert.worker_id)
  const text = alertText(worker, alert)
  await requireWrites(session, issue, 1, 'other')
  await putComment(session, { issue, name: `alert:${worker}`, text, atMs: alert.timestamp, ifDeleted: 'recreate' })
}
