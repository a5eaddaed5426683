/**
 * Sends heartbeats through the senders of @q/destinations: comments on GitHub issues, a memory server, a webhook. Their
 * code is loaded with the first heartbeat. The state of a sender is kept in this process; after a restart the sender
 * finds its comments by their markers. All monitors of a process share the limits on writes.
 */
import type { HeartbeatData } from '@q/store'
import type { Report, Sender } from '../main/deliver/load-destinations.ts'
import { openSender, type SenderDeps } from '../main/deliver/open-sender.ts'
import { redact } from '../output/redact.ts'
import type { HeartbeatDestination } from './deliveries.ts'
import type { MonitorAlert } from './failures.ts'

/** A destination as `q destinations` declares it. */
export interface ConfiguredDestination {
  readonly name: string
  /** `github`, `memory`, `webhook` or `log`. */
  readonly kind: string
  readonly settings: Readonly<Record<string, unknown>>
}

/** The issue of a task, if it has one. */
export type IssueOf = (task: string) => string | undefined

export interface OpenedDestination extends HeartbeatDestination {
  close(): Promise<void>
}

/** `say` receives the warnings of a sender, and the heartbeats of destinations of kind `log`. */
export function senderDestination(
  configured: ConfiguredDestination,
  issueOf: IssueOf,
  say: (sentence: string) => void,
): OpenedDestination {
  let opened: Promise<Sender> | undefined
  const sender = () => (opened ??= open(configured, say).catch(forget))
  function forget(error: unknown): never {
    opened = undefined
    throw error
  }
  async function send(reports: readonly Report[]): Promise<void> {
    for (const result of await (await sender()).send(reports))
      if (result.kind !== 'delivered') throw new Error(result.error)
  }
  return {
    name: configured.name,
    send: (heartbeat) => send(reportsOf(configured.kind, heartbeat, issueOf)),
    alert: (alert) => send([report('alert', alert, alert)]),
    async close() {
      await opened?.then((one) => one.close())
    },
  }
}

/** Shared by all monitors in this process. */
const shared = new Map<string, string>()

function open(configured: ConfiguredDestination, say: (sentence: string) => void): Promise<Sender> {
  const remembered = new Map<string, string>()
  const store: SenderDeps['store'] = {
    getDestinationState: async ({ key }) => remembered.get(key),
    async setDestinationState({ key }, value) {
      if (value === undefined) remembered.delete(key)
      else remembered.set(key, value)
    },
    getSharedState: async (key) => shared.get(key),
    async replaceSharedState(key, { from, to }) {
      const isSame = shared.get(key) === from
      if (isSame) shared.set(key, to)
      return isSame
    },
  }
  const observe: SenderDeps['observe'] = (event) => {
    if (event.type !== 'destination-log' || (event.level === 'info' && configured.kind !== 'log')) return
    say(redact(`${configured.name}: ${event.line} ${JSON.stringify(event.facts)}`))
  }
  const env = (variable: string) => process.env[variable]
  return openSender({ store, observe, env, isStateBrief: true }, configured)
}

function reportsOf(kind: string, heartbeat: HeartbeatData, issueOf: IssueOf): Report[] {
  const runs = heartbeat.current_tasks.map((runId) => {
    return { runId, epoch: 1, task: '', queue: '', issue: issueOf(runId) ?? null }
  })
  const latest = report('heartbeat', { heartbeat, runs }, heartbeat)
  // A memory server keeps a series beside the latest heartbeat.
  return kind === 'memory' ? [latest, report('sample', heartbeat, heartbeat)] : [latest]
}

/** A repeat has the same id: it contains the time of the heartbeat or alert. */
function report<Kind extends 'heartbeat' | 'sample' | 'alert'>(
  kind: Kind,
  payload: Extract<Report, { kind: Kind }>['payload'] | MonitorAlert,
  { worker_id: worker, timestamp }: Pick<HeartbeatData, 'worker_id' | 'timestamp'>,
): Report {
  const id = `${kind}:${worker}:${timestamp}`
  return { id, kind, subject: `replica/${worker}`, createdAt: new Date(timestamp), attempt: 1, payload } as Report
}
