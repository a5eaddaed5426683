/** The destinations of a monitor: custom ones, the kinds of @q/destinations, and the GitHub repository. */
import type { HeartbeatDestination } from './deliveries.ts'
import { senderDestination, type ConfiguredDestination, type IssueOf } from './sender-destination.ts'

export interface MonitorDestination extends HeartbeatDestination {
  close?(): Promise<void>
}

/** `githubRepo`: `owner/name`; empty: none. */
export function openDestinations(
  given: readonly (HeartbeatDestination | ConfiguredDestination)[],
  githubRepo: string,
  issueOf: IssueOf,
  say: (sentence: string) => void,
): MonitorDestination[] {
  const all = [...given, ...(githubRepo === '' ? [] : [commentsIn(githubRepo)])]
  return all.map((one) => ('send' in one ? one : senderDestination(one, issueOf, say)))
}

/** Only heartbeats go here: the destinations in the database report labels, assignees and recoveries of runs. */
function commentsIn(repository: string): ConfiguredDestination {
  const settings = { repositories: [repository], issue: '/issue', tokenVariable: 'GITHUB_TOKEN', labels: false }
  return { name: 'github', kind: 'github', settings }
}
