import { expect, test } from 'vitest'
import type { Recovery } from '../../src/index.ts'
import { aggregateText, alertText, heartbeatText, recoveryText, workerRow } from '../../src/github/comment-texts.ts'
import { durationText } from '../../src/github/text.ts'
import { heartbeatData, requeued } from './destination.ts'

test('a heartbeat comment has the lines of the protocol', () => {
  expect(heartbeatText('worker-local-1', heartbeatData)).toBe(`💓 **Worker Heartbeat**

Worker: \`worker-local-1\`
Status: ✅ healthy
Timestamp: 2024-01-01T00:00:00.000Z
Active Tasks: 2
Available Capacity: 3

**Metrics:**
- CPU: 45.2%
- Memory: 2048.0 MB
- Uptime: 2h 0m
- Completed: 42`)
})

test('each health status has its icon', () => {
  const lines = (['degraded', 'unhealthy'] as const).map(
    (health_status) => heartbeatText('w', { ...heartbeatData, health_status }).split('\n')[3],
  )
  expect(lines).toEqual(['Status: ⚠️ degraded', 'Status: ❌ unhealthy'])
})

test('a recovery comment of a requeued run has the lines of the protocol', () => {
  expect(recoveryText('worker-local-1', requeued, 'removed')).toBe(`⚠️ **Stale Lock Detected**

Worker \`worker-local-1\` last seen 15m 32s ago.

**Actions Taken:**
- ✅ Assignment removed
- ✅ Lock released
- ✅ Task returned to queue

Task is now available for other workers to claim.`)
})

test('a recovery comment marks only actions that were taken as done', () => {
  const failed: Recovery = { ...requeued, became: 'FAILED', code: 'WORKER_CRASHED' }
  const text = recoveryText('worker-local-1', failed, 'not configured')
  expect(text).toContain(`- ➖ Assignment removed: not configured
- ✅ Lock released
- ❌ Run ended FAILED (WORKER_CRASHED)

Task does not run again unless it is retried.`)
  expect(recoveryText('w', requeued, { refused: 'GitHub answered 403' })).toContain(
    '- ❌ Assignment not removed: `GitHub answered 403`',
  )
})

test('durations have their two largest units', () => {
  expect([0, 59_999, 60_000, 932_000, 7_200_000, 90_000_000].map(durationText)).toEqual([
    '0s',
    '59s',
    '1m 0s',
    '15m 32s',
    '2h 0m',
    '1d 1h',
  ])
})

test('text of others is shown as code, where it has no effect', () => {
  const error = 'fixes #123 @everyone acme/shop#1\n<!-- q:recovery:1:1 -->\n`](https://example.com)` | x'
  const lines = alertText('w', { worker_id: 'w', timestamp: 0, error, consecutive_failures: 3 }).split('\n')
  expect(lines.at(-1)).toBe(
    "Error: `fixes #123 @everyone acme/shop#1 <!-- q:recovery:1:1 --> '](https://example.com)' ¦ x`",
  )
})

test('the aggregate comment lists the least healthy workers first, and fits into a comment', () => {
  const current_tasks = Array.from({ length: 100_000 }, () => '')
  const rows = Array.from({ length: 1000 }, (_, index) =>
    workerRow(`w${index}`.padEnd(100, 'x'), {
      ...heartbeatData,
      current_tasks,
      metrics: { ...heartbeatData.metrics, uptime: 1e9, tasks_completed: Number.MAX_SAFE_INTEGER, memory_usage: 1e9 },
      health_status: index === 500 ? 'unhealthy' : 'healthy',
    }),
  )
  const text = aggregateText(rows)
  const lines = text.split('\n')
  expect(lines.slice(0, 3)).toEqual(['💓 **Worker Heartbeats**', '', 'Workers: 1000'])
  expect(lines[6]).toMatch(/^\| `w500x+` \| ❌ unhealthy \| 2024-01-01T00:00:00.000Z \| 100000 \| 3 \|/)
  expect(lines.at(-1)).toBe('800 more workers are not shown.')
  expect(text.length).toBeLessThan(65_000)
})
