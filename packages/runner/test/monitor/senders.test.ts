/** Heartbeats of a monitor by the real senders: comments on issues of GitHub's stand-in, and a real memory server. */
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { HeartbeatMonitor, type MonitorAlert, type HeartbeatConfig } from '@q/runner/monitor'
import { startGithubServer } from '../../../destinations/test/github-server.ts'
import { eventually } from '../fixture.ts'

const often = { heartbeat_interval: 100, stale_threshold: 1_000, detection_interval: 100, retry_delay: 0 }

async function started(repository: string, config: HeartbeatConfig = {}) {
  vi.stubEnv('DATABASE_URL', '')
  const warnings: string[] = []
  const monitor = new HeartbeatMonitor('worker-local-1', repository, {
    ...often,
    warn: (sentence) => warnings.push(sentence),
    ...config,
  })
  onTestFinished(async () => {
    await monitor.stop()
    vi.unstubAllEnvs()
  })
  monitor.addTask('task-123', { issue: 7 })
  await monitor.start()
  return { monitor, warnings }
}

test('heartbeats are shown on the issue of a task, as one comment', async () => {
  await using github = await startGithubServer({ repositories: ['org/repo'] })
  vi.stubEnv('GITHUB_API_URL', github.url)
  vi.stubEnv('GITHUB_TOKEN', github.token)
  await started('org/repo')
  const [comment] = await eventually(() => {
    const { comments } = github.issue('org/repo', 7)
    return comments.length > 0 ? comments : undefined
  }, 'a comment')
  expect(comment?.body).toMatch(/💓 \*\*Worker Heartbeat\*\*\n\nWorker: `worker-local-1`\nStatus: .+ \w+\n/)
  expect(github.issue('org/repo', 7).comments).toHaveLength(1)
})

test('a monitor that starts again edits the comment of the earlier process', async () => {
  await using github = await startGithubServer({ repositories: ['org/repo'] })
  vi.stubEnv('GITHUB_API_URL', github.url)
  vi.stubEnv('GITHUB_TOKEN', github.token)
  const { comments } = github.issue('org/repo', 7)
  const { monitor } = await started('org/repo')
  await eventually(() => comments.length > 0 || undefined, 'a comment')
  await monitor.stop()
  const before = comments[0]?.body
  const again = await started('org/repo')
  again.monitor.recordTaskCompletion()
  await eventually(() => comments.length > 1 || comments[0]?.body !== before || undefined, 'another heartbeat')
  expect(comments).toHaveLength(1)
  expect(comments[0]?.body).toContain('Completed: ')
})

test('a repository without a token is reported at the start, and raises an alert', async () => {
  vi.stubEnv('GITHUB_TOKEN', undefined)
  const alerts: MonitorAlert[] = []
  const { warnings } = await started('org/repo', { retry_attempts: 1, onAlert: (alert) => alerts.push(alert) })
  expect(warnings).toContainEqual(expect.stringContaining('GITHUB_TOKEN is not set'))
  await eventually(() => (alerts.length > 0 ? true : undefined), 'an alert')
  expect(alerts).toMatchObject([{ destination: 'github', consecutive_failures: 3 }])
})

test('a memory server gets the latest heartbeat and a series', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'q memory '))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'memory.jsonl')
  await started('', { destinations: [{ name: 'memory', kind: 'memory', settings: { file } }] })
  const stored = await eventually(async () => {
    const text = await readFile(file, 'utf8').catch(() => '')
    return text.includes('/metrics/heartbeats/worker-local-1/') ? text : undefined
  }, 'a series')
  expect(stored).toContain('task-sentinel/workers/worker-local-1/heartbeat')
})

test('a heartbeat that is tried again has the same id, so that a receiver recognises the repeat', async () => {
  vi.stubEnv('HOOK_SECRET', 'canary-s3cret')
  const ids: unknown[] = []
  const receiver = createServer((request, response) => {
    ids.push(request.headers['x-q-delivery'])
    request.resume().on('end', () => response.writeHead(ids.length === 1 ? 500 : 204).end())
  })
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void receiver.close())
  const { port } = receiver.address() as AddressInfo
  const settings = { url: `http://127.0.0.1:${port}/hook`, secretVariable: 'HOOK_SECRET' }
  // The clock goes on between two tries.
  await started('', { retry_delay: 20, destinations: [{ name: 'hook', kind: 'webhook', settings }] })
  await eventually(() => (ids.length > 1 ? true : undefined), 'a repeat')
  expect(ids[0]).toMatch(/^heartbeat:worker-local-1:\d+$/)
  expect(ids[1]).toBe(ids[0])
})
