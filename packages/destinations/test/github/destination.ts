/** A GitHub destination with a stand-in for GitHub, a clock that only moves when the sender waits, and reports. */
import { onTestFinished } from 'vitest'
import { openGithubSender } from '../../src/github/github-sender.ts'
import type {
  Heartbeat,
  HeartbeatData,
  Recovery,
  Report,
  RunStatusChange,
  Sender,
  SendResult,
  Settings,
} from '../../src/index.ts'
import { type GithubServer, startGithubServer } from '../github-server.ts'
import { memoryState } from '../memory-state.ts'

export const repository = 'acme/shop'

export interface TestDestination {
  readonly server: GithubServer
  readonly sender: Sender
  readonly clock: { nowMs: number }
  /** The waits between writes. */
  readonly pauses: readonly number[]
  readonly logged: readonly string[]
  /** Another sender with the same state, as another replica opens it. */
  readonly anotherSender: () => Sender
  readonly send: (report: Report) => Promise<SendResult | undefined>
}

export async function testDestination(
  settings: Settings = {},
  env: Readonly<Record<string, string>> = {},
): Promise<TestDestination> {
  const server = await startGithubServer({ repositories: [repository, 'acme/other'] })
  onTestFinished(async () => await server[Symbol.asyncDispose]())
  server.issue(repository, 12)
  const state = memoryState()
  const clock = { nowMs: Date.parse('2026-01-01T00:00:00Z') }
  const pauses: number[] = []
  const logged: string[] = []
  const variables: Record<string, string> = { GITHUB_TOKEN: server.token, ...env }
  const open = (): Sender =>
    openGithubSender(
      {
        name: 'issues',
        settings: {
          issue: '/issue',
          repositories: [repository],
          tokenVariable: 'GITHUB_TOKEN',
          apiUrl: server.url,
          ...settings,
        },
        env: (variable) => variables[variable],
        state,
        nowMs: () => clock.nowMs,
        log: (level, facts, sentence) => void logged.push(`${level} ${sentence} ${JSON.stringify(facts)}`),
      },
      {
        pause(ms) {
          pauses.push(ms)
          clock.nowMs += ms
          return Promise.resolve()
        },
        retryUnitMs: 0,
      },
    )
  const sender = open()
  onTestFinished(async () => await sender.close())
  const send = async (report: Report): Promise<SendResult | undefined> => (await sender.send([report]))[0]
  return { server, sender, clock, pauses, logged, anotherSender: open, send }
}

const run = { runId: '17', epoch: 1, task: 'build', queue: 'default', issue: '12' }

/** A run that was requeued because its worker died. */
export const requeued: Recovery = {
  ...run,
  worker: 'worker-local-1',
  silentMs: 932_000,
  cause: 'presence',
  became: 'AVAILABLE',
  code: null,
  at: '2026-01-01T00:00:00.000Z',
}

export function recovery(facts: Partial<Recovery> = {}): Report {
  const payload: Recovery = { ...requeued, ...facts }
  return { ...envelope(`recovery/${payload.runId}`), kind: 'recovery', payload }
}

export function status(facts: Partial<RunStatusChange> = {}): Report {
  const payload: RunStatusChange = {
    ...run,
    of: 'run',
    status: 'AVAILABLE',
    previous: null,
    worker: null,
    at: '2026-01-01T00:00:00.000Z',
    ...facts,
  }
  return { ...envelope(`status/${payload.runId}`), kind: 'status', payload }
}

/** The example of the heartbeat protocol. */
export const heartbeatData: HeartbeatData = {
  worker_id: 'worker-local-1',
  timestamp: 1_704_067_200_000,
  health_status: 'healthy',
  current_tasks: ['task-123', 'task-456'],
  capacity_available: 3,
  metrics: { cpu_usage: 45.2, memory_usage: 2048, tasks_completed: 42, tasks_failed: 2, uptime: 7200 },
}

export function heartbeat(facts: Partial<HeartbeatData> = {}, runs: Heartbeat['runs'] = [run]): Report {
  const payload: Heartbeat = { heartbeat: { ...heartbeatData, ...facts }, runs }
  const { worker_id: worker, timestamp } = payload.heartbeat
  return { ...envelope(`heartbeat/${worker}`), kind: 'heartbeat', createdAt: new Date(timestamp), payload }
}

function envelope(subject: string): { id: string; subject: string; createdAt: Date; attempt: number } {
  return { id: `d-${subject}`, subject, createdAt: new Date(0), attempt: 1 }
}
