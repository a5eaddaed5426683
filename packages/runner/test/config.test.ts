import { availableParallelism } from 'node:os'
import { expect, test } from 'vitest'
import { presets, readConfig } from '@q/runner'

test('with nothing set everything has a value', () => {
  expect(readConfig({})).toMatchObject({
    presetName: 'default',
    threads: availableParallelism(),
    queues: [],
    logLevel: 'info',
  })
})

test('all problems are reported together, each with its value and one that passes', () => {
  const wrong = {
    Q_THREADS: 'many',
    Q_PRESET: 'turbo',
    Q_LOG_LEVEL: 'loud',
    Q_DRAIN_MS: '-1',
    Q_NAME: 'two words',
    Q_QUEUES: 'a,b c',
  }
  const read = () => readConfig(wrong)
  expect(read).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  for (const [key, value] of Object.entries(wrong)) expect(read).toThrow(`${key}=${value}`)
})

test.each(Object.entries(presets))(
  'in preset %s every threshold is at least two beats',
  (_, { thresholds: t, heartbeatsKeptMs }) => {
    expect(t.replicaStaleMs).toBeGreaterThanOrEqual(2 * t.replicaBeatMs)
    expect(t.claimerStaleMs).toBeGreaterThanOrEqual(2 * t.claimerBeatMs)
    expect(t.runnerStaleMs).toBeGreaterThanOrEqual(2 * t.runnerBeatMs)
    expect(t.checkEveryMs).toBeLessThanOrEqual(t.replicaStaleMs)
    expect(heartbeatsKeptMs).toBeGreaterThanOrEqual(Math.max(t.replicaStaleMs, t.claimerStaleMs, t.runnerStaleMs))
  },
)
