import { expect, test } from 'vitest'
import { HeartbeatMonitor } from '@q/runner/monitor'
import { readMonitorConfig } from '../../src/monitor/config.ts'

const minute = 60_000

test('by default a worker beats every 5 minutes, is stale after 10, looks every minute, and tries 3 times 5 s apart', () => {
  expect(readMonitorConfig({})).toEqual({
    heartbeatIntervalMs: 5 * minute,
    staleThresholdMs: 10 * minute,
    detectionIntervalMs: minute,
    retryAttempts: 3,
    retryDelayMs: 5_000,
    capacity: 5,
  })
})

test('names may be in snake_case or in camelCase', () => {
  const snake = {
    heartbeat_interval: 1_000,
    stale_threshold: 3_000,
    detection_interval: 500,
    retry_attempts: 2,
    retry_delay: 9,
  }
  const camel = {
    heartbeatInterval: 1_000,
    staleThreshold: 3_000,
    detectionInterval: 500,
    retryAttempts: 2,
    retryDelay: 9,
  }
  expect(readMonitorConfig(camel)).toEqual(readMonitorConfig(snake))
  expect(readMonitorConfig(snake)).toMatchObject({ heartbeatIntervalMs: 1_000, retryAttempts: 2, retryDelayMs: 9 })
})

test.each([
  ['fast-changing tasks', 2 * minute, 5 * minute, 30_000],
  ['long-running tasks', 10 * minute, 30 * minute, 5 * minute],
  ['a longer threshold', 5 * minute, 15 * minute, minute],
  ['a shorter interval', 3 * minute, 10 * minute, minute],
])('the tuning for %s is accepted', (_, heartbeat_interval, stale_threshold, detection_interval) => {
  expect(() => readMonitorConfig({ heartbeat_interval, stale_threshold, detection_interval })).not.toThrow()
})

test('every mistake of a configuration is reported in one error', () => {
  const wrong = { heartbeat_interval: 0, stale_threshold: 7_200_000, retry_attempts: 0, capacity: 1.5 }
  expect(() => new HeartbeatMonitor('w', '', wrong)).toThrow(
    expect.objectContaining({
      code: 'MONITOR_CONFIG_INVALID',
      why: expect.stringMatching(
        /heartbeat_interval is 0.*stale_threshold is 7200000.*retry_attempts is 0.*capacity is 1.5/,
      ),
    }),
  )
  const close = { heartbeat_interval: 60_000, stale_threshold: 90_000, detection_interval: 100_000 }
  expect(() => new HeartbeatMonitor('w', '', close)).toThrow(
    expect.objectContaining({ why: expect.stringMatching(/stale_threshold is 90000.*detection_interval is 100000/) }),
  )
})

test.each(['orgrepo', 'https://github.com/org/repo', 'org/', 'org/repo/issues'])('"%s" is not a repository', (repo) => {
  expect(() => new HeartbeatMonitor('w', repo, { retry_attempts: 0 })).toThrow(
    expect.objectContaining({
      code: 'MONITOR_CONFIG_INVALID',
      why: `githubRepo is ${JSON.stringify(repo)}, and must be "owner/name", or empty; retry_attempts is 0, and must be an integer from 1 to 100.`,
    }),
  )
})

test.each(['', 'a b', 'a/b', '<!-- x -->', 'x'.repeat(101)])('"%s" is not the id of a worker', (id) => {
  expect(() => new HeartbeatMonitor(id, 'org/repo')).toThrow(expect.objectContaining({ code: 'WORKER_ID_INVALID' }))
})
