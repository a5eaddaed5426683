/**
 * Updates labels and assignee of an issue when the status of its run changes. The state records the time of the last
 * applied change, so an older report that arrives late changes nothing.
 */
import type { TaskState } from '@q/schema'
import type { SenderState } from '../sender.ts'
import type { GithubClient } from './api/client.ts'
import { type Issue, issueName } from './issue.ts'
import type { GithubSettings } from './settings.ts'

export type Phase = 'queued' | 'in-progress' | 'ended'

const labelOf = { queued: 'status:queued', 'in-progress': 'status:in-progress' } as const

export interface FollowPorts {
  readonly client: GithubClient
  readonly state: SenderState
  readonly settings: Pick<GithubSettings, 'labels' | 'assignee'>
}

export interface Change {
  readonly phase: Phase
  readonly atMs: number
}

/** A CLAIMED run has not begun: its holder may still release it. */
export function phaseOf(status: TaskState): Phase {
  if (status === 'RUNNING') return 'in-progress'
  return status === 'PENDING' || status === 'AVAILABLE' || status === 'CLAIMED' ? 'queued' : 'ended'
}

/** The most writes that one change can take. */
export function writesOfChange({ labels, assignee }: FollowPorts['settings']): number {
  return (labels ? 2 : 0) + (assignee === undefined ? 0 : 1)
}

export async function followStatus(ports: FollowPorts, issue: Issue, change: Change): Promise<void> {
  const applied = await appliedTo(ports.state, issue)
  if (applied !== undefined && applied.atMs > change.atMs) return
  if (applied?.phase !== change.phase) {
    await changeAssignee(ports, issue, change.phase)
    await changeLabels(ports, issue, change.phase)
  }
  await recordChange(ports.state, issue, change)
}

async function changeAssignee({ client, settings }: FollowPorts, issue: Issue, phase: Phase): Promise<void> {
  if (settings.assignee === undefined) return
  await (phase === 'in-progress' ? client.assign(issue, settings.assignee) : client.unassign(issue, settings.assignee))
}

export async function changeLabels({ client, settings }: FollowPorts, issue: Issue, phase: Phase): Promise<void> {
  if (!settings.labels) return
  if (phase !== 'ended') await client.addLabel(issue, labelOf[phase])
  for (const other of ['queued', 'in-progress'] as const)
    if (other !== phase) await client.removeLabel(issue, labelOf[other])
}

/** Whether a newer change than this one was applied to the issue. */
export async function isSuperseded(state: SenderState, issue: Issue, atMs: number): Promise<boolean> {
  return ((await appliedTo(state, issue))?.atMs ?? 0) > atMs
}

export async function recordChange(state: SenderState, issue: Issue, change: Change): Promise<void> {
  await state.put(keyOf(issue), JSON.stringify(change))
}

async function appliedTo(state: SenderState, issue: Issue): Promise<Change | undefined> {
  const stored = await state.get(keyOf(issue))
  return stored === undefined ? undefined : (JSON.parse(stored) as Change)
}

function keyOf(issue: Issue): string {
  return `issue/${issueName(issue)}`
}
