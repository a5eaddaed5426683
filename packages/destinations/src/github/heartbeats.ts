/**
 * Writes heartbeats to the issues of the runs that a worker executes: one comment per run, edited in place. A
 * repository with many workers gets one table per issue instead, or one table on a configured issue. A heartbeat that
 * the write limit would delay is skipped: the next one has newer data.
 */
import type { Heartbeat, Report } from '../report.ts'
import { type ActiveWorkers, recordWorker } from './active-workers.ts'
import { aggregateText, heartbeatText } from './comment-texts.ts'
import { type Comment, dueComments, putComment } from './comments.ts'
import { type Issue, issueName, type Repository, repositoryName, repositoryOf } from './issue.ts'
import { NotDelivered, outOfTime } from './api/not-delivered.ts'
import type { GithubSession } from './session.ts'
import type { GithubSettings } from './settings.ts'

const workersWithOwnComments = 20
const edited = { everyMs: 300_000, ifDeleted: 'leave' } as const

type HeartbeatReport = Extract<Report, { kind: 'heartbeat' }>

interface RunOnIssue {
  readonly runId: string
  readonly epoch: number
  readonly issue: Issue
}

interface ManyWorkers {
  readonly repository: Repository
  readonly workers: ActiveWorkers
  /** The issues of the runs that the reporting worker is executing. */
  readonly issues: readonly number[]
  readonly atMs: number
}

export async function sendHeartbeat(session: GithubSession, { createdAt, payload }: HeartbeatReport): Promise<void> {
  const { heartbeat, runs } = payload
  const atMs = createdAt.getTime()
  const onIssues = runs.flatMap((run) => withIssue(session, run))
  const worker = session.workerName(heartbeat.worker_id)
  for (const name of session.settings.repositories) {
    const repository = repositoryOf(name)
    const here = onIssues.filter(({ issue }) => repositoryName(issue) === name)
    const issues = here.map(({ issue }) => issue.number)
    const workers = await recordWorker(session, { repository, worker, heartbeat, issues })
    const comments =
      Object.keys(workers).length > workersWithOwnComments
        ? aggregateComments(session.settings, { repository, workers, issues, atMs })
        : here.map((run) => ownComment(run, heartbeatText(worker, heartbeat), atMs))
    if ((await writeWhileAllowed(session, comments)) === 'limited') return
  }
}

/** A run of a repository that is not allowed gets no heartbeats on GitHub; its status report names the mistake. */
function withIssue(session: GithubSession, run: Heartbeat['runs'][number]): RunOnIssue[] {
  try {
    const issue = session.issueOf(run)
    return issue === undefined ? [] : [{ runId: run.runId, epoch: run.epoch, issue }]
  } catch (error) {
    if (error instanceof NotDelivered) return []
    throw error
  }
}

function ownComment({ runId, epoch, issue }: RunOnIssue, text: string, atMs: number): Comment {
  return { issue, name: `heartbeat:${runId}:${epoch}`, text, atMs, ...edited }
}

function aggregateComments(
  { repositories, heartbeatIssue }: GithubSettings,
  { repository, workers, issues, atMs }: ManyWorkers,
): readonly Comment[] {
  const rows = Object.values(workers)
  const oneIssue = repositoryName(repository) === repositories[0] ? heartbeatIssue : undefined
  const numbers = oneIssue === undefined ? new Set(issues) : [oneIssue]
  return [...numbers].map((number) => {
    const issue = { ...repository, number }
    const shown = number === oneIssue ? rows : rows.filter((row) => row.issues.includes(number))
    return { issue, name: `heartbeats:${issueName(issue)}`, text: aggregateText(shown), atMs, ...edited }
  })
}

/** If GitHub rejects one issue, the others still get their comments. */
async function writeWhileAllowed(session: GithubSession, comments: readonly Comment[]): Promise<'done' | 'limited'> {
  let rejected: NotDelivered | undefined
  for (const comment of await dueComments(session.state, comments)) {
    if (session.isLate()) throw outOfTime()
    if ((await session.writesWaitMs(comment.issue, 1, 'other')) > 0) {
      const facts = { repository: repositoryName(comment.issue) }
      session.log('info', facts, 'skipped heartbeat comments: limit on writes reached')
      return 'limited'
    }
    try {
      await putComment(session, comment)
    } catch (error) {
      if (!(error instanceof NotDelivered) || error.blocksOthers) throw error
      rejected = error
    }
  }
  if (rejected !== undefined) throw rejected
  return 'done'
}
