/**
 * Comments that are created once and then edited. The sender's state holds the id of each, and marks a comment as
 * "being created" before the request is sent: after a lost answer or a crash, the next try searches for the comment by
 * its marker before it creates one. So does a sender whose state is brief, because an earlier process may have
 * created the comment. An older report never overwrites a newer one.
 */
import { createHash } from 'node:crypto'
import type { SenderState } from '../sender.ts'
import type { GithubClient } from './api/client.ts'
import type { Issue } from './issue.ts'

export interface Comment {
  readonly issue: Issue
  /** Unique in the destination, such as `heartbeat:17:1`. The marker and the key in the state contain it. */
  readonly name: string
  readonly text: string
  /** The timestamp of the report. */
  readonly atMs: number
  /** What to do if a person deleted the comment. */
  readonly ifDeleted: 'leave' | 'recreate'
  /** The shortest time between two edits; a report that comes sooner is skipped. */
  readonly everyMs?: number
}

interface Stored {
  /** Absent while the comment is being created, and after it was deleted. */
  readonly id?: number
  readonly creatingSinceMs?: number
  readonly deleted?: true
  readonly atMs: number
  readonly digest?: string
}

/** How far the clock of the replica that began to create the comment may differ from GitHub's. */
const clockDifferenceMsMax = 3_600_000
/** A comment of an earlier process that has not changed for so long is left as it is. */
const rememberedMs = 7 * 86_400_000

export interface CommentPorts {
  readonly client: GithubClient
  readonly state: SenderState
  readonly nowMs: () => number
}

export async function putComment(ports: CommentPorts, comment: Comment): Promise<void> {
  const { issue, text, atMs } = comment
  const stored = await readStored(ports.state, comment)
  if (!isDue(comment, stored)) return
  const body = `${markerOf(comment)}\n${text}`
  const save = async (facts: Partial<Stored>): Promise<void> =>
    await ports.state.put(keyOf(comment), JSON.stringify({ atMs, digest: digestOf(text), ...facts } satisfies Stored))

  const id = stored?.id ?? (await findUnfinished(ports, comment, stored))
  if (id !== undefined && (await ports.client.editComment(issue, id, body)) === 'edited') return await save({ id })
  if (id !== undefined && comment.ifDeleted === 'leave') return await save({ deleted: true })
  await ports.state.put(keyOf(comment), JSON.stringify({ atMs: 0, creatingSinceMs: ports.nowMs() } satisfies Stored))
  await save({ id: await ports.client.createComment(issue, body) })
}

/** The comments to write now, the least recently edited first. */
export async function dueComments(state: SenderState, comments: readonly Comment[]): Promise<readonly Comment[]> {
  const known = await Promise.all(
    comments.map(async (comment) => ({ comment, stored: await readStored(state, comment) })),
  )
  return known
    .filter(({ comment, stored }) => isDue(comment, stored))
    .toSorted((a, b) => (a.stored?.atMs ?? 0) - (b.stored?.atMs ?? 0))
    .map(({ comment }) => comment)
}

function isDue({ text, atMs, ifDeleted, everyMs = 0 }: Comment, stored: Stored | undefined): boolean {
  if (stored === undefined || stored.creatingSinceMs !== undefined) return true
  if (stored.deleted === true && ifDeleted === 'leave') return false
  return stored.atMs + everyMs <= atMs && stored.digest !== digestOf(text)
}

async function findUnfinished(
  { client, state, nowMs }: CommentPorts,
  comment: Comment,
  stored: Stored | undefined,
): Promise<number | undefined> {
  const isUnknown = stored === undefined && state.isBrief === true
  const sinceMs = isUnknown ? nowMs() - rememberedMs : stored?.creatingSinceMs
  if (sinceMs === undefined) return undefined
  return await client.findComment(comment.issue, markerOf(comment), new Date(sinceMs - clockDifferenceMsMax))
}

async function readStored(state: SenderState, comment: Comment): Promise<Stored | undefined> {
  const stored = await state.get(keyOf(comment))
  return stored === undefined ? undefined : (JSON.parse(stored) as Stored)
}

function keyOf({ name }: Comment): string {
  return `comment/${name}`
}

function markerOf({ name }: Comment): string {
  return `<!-- q:${name} -->`
}

/** Whether two texts are equal apart from their timestamps. */
function digestOf(text: string): string {
  return createHash('sha256')
    .update(text.replace(/^Timestamp: .*$/m, ''))
    .digest('base64url')
}
