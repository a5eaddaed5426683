/**
 * Reports a recovery on its issue: removes the assignment, comments what was done, then changes the labels. Each step
 * can be repeated, so an interrupted report starts again at the first one.
 */
import type { Recovery } from '../report.ts'
import { isRequeued, recoveryText, type Unassigned } from './comment-texts.ts'
import { putComment } from './comments.ts'
import { changeLabels, isSuperseded, recordChange, writesOfChange } from './follow-status.ts'
import type { Issue } from './issue.ts'
import { NotDelivered } from './api/not-delivered.ts'
import { requireWrites, type GithubSession } from './session.ts'

export async function sendRecovery(session: GithubSession, recovery: Recovery): Promise<void> {
  const issue = session.issueOf(recovery)
  if (issue === undefined) return
  await requireWrites(session, issue, 1 + writesOfChange(session.settings), 'recovery')
  const atMs = Date.parse(recovery.at)
  const superseded = await isSuperseded(session.state, issue, atMs)
  const unassigned = superseded ? 'superseded' : await unassign(session, issue)
  await putComment(session, {
    issue,
    name: `recovery:${recovery.runId}:${recovery.epoch}`,
    text: recoveryText(session.workerName(recovery.worker), recovery, unassigned),
    atMs,
    ifDeleted: 'recreate',
  })
  if (superseded) return
  const phase = isRequeued(recovery) ? 'queued' : 'ended'
  await changeLabels(session, issue, phase)
  await recordChange(session.state, issue, { phase, atMs })
}

/** A step that GitHub refuses for good is named in the comment; a step that may succeed later fails the report. */
async function unassign({ client, settings }: GithubSession, issue: Issue): Promise<Unassigned> {
  if (settings.assignee === undefined) return 'not configured'
  try {
    await client.unassign(issue, settings.assignee)
    return 'removed'
  } catch (error) {
    if (error instanceof NotDelivered && error.result.kind === 'rejected') return { refused: error.result.error }
    throw error
  }
}
