import { availableParallelism } from 'node:os'
import { expect, test } from 'vitest'
import { presets, readConfig } from '@q/runner'
import {
  beatIntervalMs,
  fencedGraceMs,
  replicaFenceMs,
  fenceTickMs,
  presenceFenceMs,
  presenceGraceMsMin,
  proofMs,
  runFenceMs,
} from '../src/main/liveness/self-fence-limits.ts'
import { noEvidenceMsMax } from '../src/main/liveness/run-limits.ts'

test('without any setting every value has a default', () => {
  expect(readConfig({})).toMatchObject({
    presetName: 'default',
    threads: availableParallelism(),
    queues: [],
    logLevel: 'info',
    warnings: [],
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
    Q_AUTO_FAIL_STALE_RUNNING: 'perhaps',
    Q_REPLICA_BEAT_MS: 'often',
  }
  const read = () => readConfig(wrong)
  expect(read).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  for (const [key, value] of Object.entries(wrong)) expect(read).toThrow(`${key}=${value}`)
})

test('queues have weights, by default 1; all mistakes in them are reported together', () => {
  const { queues, queueWeights } = readConfig({ Q_QUEUES: 'cpu:3, default,mail:10:1000' })
  expect(queues).toEqual(['cpu', 'default', 'mail:10'])
  expect(queueWeights).toEqual({ cpu: 3, default: 1, 'mail:10': 1_000 })
  const read = () => readConfig({ Q_QUEUES: 'a:0,b c,d:1001,e:-1,f,f:2,g:1.5,h:', Q_THREADS: '0' })
  for (const item of ['a:0', 'b c', 'd:1001', 'e:-1', 'f:2', 'g:1.5', 'h:']) expect(read).toThrow(`\`${item}\``)
  expect(read).toThrow('Q_THREADS=0')
  expect(read).not.toThrow('`f`')
})

test('every value of a preset can be set alone', () => {
  const { preset, presenceGraceMs, autoRequeueStaleClaimed } = readConfig({
    Q_PRESET: 'fast',
    Q_RUNNER_STALE_MS: '20000',
    Q_ON_CRASH: 'retry',
    Q_HEARTBEATS_KEPT_MS: '60000',
    Q_PRESENCE_GRACE_MS: '4000',
    Q_AUTO_REQUEUE_STALE_CLAIMED: 'off',
    Q_TIMEOUT_MS: '60000',
    Q_MAX_SILENT_MS: '5000',
  })
  expect(preset).toEqual({
    ...presets['fast'],
    thresholds: { ...presets['fast']!.thresholds, runnerStaleMs: 20_000 },
    onCrash: 'retry',
    heartbeatsKeptMs: 60_000,
    timeoutMs: 60_000,
    maxSilentMs: 5_000,
  })
  expect({ presenceGraceMs, autoRequeueStaleClaimed }).toEqual({
    presenceGraceMs: 4_000,
    autoRequeueStaleClaimed: false,
  })
})

test('0 switches off a limit that a preset sets', () => {
  const { preset } = readConfig({ Q_PRESET: 'ci', Q_TIMEOUT_MS: '0', Q_MAX_SILENT_MS: '0' })
  expect(preset).toEqual({ ...presets['ci'], timeoutMs: null, maxSilentMs: null })
  expect(() => readConfig({ Q_TIMEOUT_MS: '-1' })).toThrow('Q_TIMEOUT_MS=-1')
})

test('spaces alone are not a number', () => {
  expect(() => readConfig({ Q_DRAIN_MS: ' ', Q_TIMEOUT_MS: '\t' })).toThrow(/Q_DRAIN_MS= .*\n.*Q_TIMEOUT_MS=\t/)
})

test('a slower preset never waits less for evidence of life than a faster one', () => {
  const all = Object.values(presets).map(({ thresholds }) => thresholds)
  for (const slow of all)
    for (const fast of all.filter((t) => t.runnerBeatMs <= slow.runnerBeatMs && t.runnerStaleMs <= slow.runnerStaleMs))
      expect(noEvidenceMsMax(slow)).toBeGreaterThanOrEqual(noEvidenceMsMax(fast))
  for (const thresholds of all) expect(noEvidenceMsMax(thresholds)).toBeLessThan(thresholds.runnerStaleMs)
})

test('all broken constraints between settings are reported together, and the proposed values pass', () => {
  const wrong = {
    Q_PRESET: 'fast',
    Q_THREADS: '0',
    Q_REPLICA_STALE_MS: '1500',
    Q_RUNNER_STALE_MS: '1000',
    Q_CHECK_MS: '60000',
    Q_HEARTBEATS_KEPT_MS: '2000',
    Q_UNHEALTHY_MB: '100',
    Q_SAMPLES_KEPT_MS: '1000',
  }
  let said = ''
  try {
    readConfig(wrong)
  } catch (error) {
    said = String(error)
  }
  for (const key of Object.keys(wrong).filter((name) => name !== 'Q_PRESET')) expect(said).toContain(`${key}=`)
  const proposals = [...said.matchAll(/for instance (\w+)=(\S+)/g)].map(([, key, value]) => `${key}=${value}`)
  // Whichever line is believed, the same: one value for each variable.
  expect(new Set(proposals).size).toBe(new Set(proposals.map((proposal) => proposal.split('=')[0])).size)
  const better = Object.fromEntries(proposals.map((proposal) => proposal.split('=')))
  expect(() => readConfig({ ...wrong, ...better })).not.toThrow()
})

test('a grace too short to notice a lost session is refused, and so is a threshold too short to stop a run', () => {
  const wrong = {
    Q_PRESENCE_GRACE_MS: String(proofMs.every + proofMs.max),
    Q_RUNNER_BEAT_MS: '100',
    Q_RUNNER_STALE_MS: '400',
    Q_CHECK_MS: '100',
  }
  const read = (env: Record<string, string>) => () => readConfig(env)
  for (const key of ['Q_PRESENCE_GRACE_MS=1400', 'Q_RUNNER_STALE_MS=400']) expect(read(wrong)).toThrow(key)
  const proposed = { Q_PRESENCE_GRACE_MS: '2500', Q_RUNNER_STALE_MS: '1300' }
  for (const [key, value] of Object.entries(proposed)) expect(read(wrong)).toThrow(`for instance ${key}=${value}`)
  const { preset } = readConfig({ ...wrong, ...proposed })
  expect(runFenceMs(preset.thresholds)).toBeGreaterThan(0)
})

test('the shortest grace leaves time to notice a lost session before runs are stopped for it', () => {
  expect(presenceFenceMs(presenceGraceMsMin)).toBeGreaterThanOrEqual(proofMs.every + proofMs.max)
})

test('an unknown variable with our prefix is reported as a warning', () => {
  const env = { Q_THREAD: '4', Q_THREADS: '4', Q_DATA_DIR: 'here', Q_TEST_DATABASE_URL: 'there', QUEUE: 'not ours' }
  expect(readConfig(env).warnings).toEqual(['Q_THREAD is not a setting: it has no effect'])
})

test('a threshold below three beats is a warning, except in an unchanged preset', () => {
  expect(readConfig({ Q_PRESET: 'relaxed' }).warnings).toEqual([])
  expect(readConfig({ Q_REPLICA_STALE_MS: '25000', Q_CHECK_MS: '10000' }).warnings).toEqual([
    expect.stringContaining('Q_REPLICA_STALE_MS=25000'),
  ])
})

test.each(Object.entries(presets))(
  'in preset %s a threshold is at least two beats, and a replica that is cut off stops before others start',
  (_, { thresholds: t, heartbeatsKeptMs }) => {
    expect(t.replicaStaleMs).toBeGreaterThanOrEqual(2 * t.replicaBeatMs)
    expect(t.claimerStaleMs).toBeGreaterThanOrEqual(2 * t.claimerBeatMs)
    expect(t.runnerStaleMs).toBeGreaterThanOrEqual(2 * t.runnerBeatMs)
    expect(t.checkEveryMs).toBeLessThanOrEqual(t.replicaStaleMs)
    expect(heartbeatsKeptMs).toBeGreaterThanOrEqual(Math.max(t.replicaStaleMs, t.claimerStaleMs, t.runnerStaleMs))
    expect(replicaFenceMs(t)).toBeLessThan(Math.min(t.replicaStaleMs, t.claimerStaleMs, t.runnerStaleMs))
    expect(replicaFenceMs(t) + fenceTickMs + fencedGraceMs).toBeLessThan(Math.min(t.replicaStaleMs, t.claimerStaleMs))
    expect(runFenceMs(t) + fenceTickMs + fencedGraceMs).toBeLessThan(t.runnerStaleMs)
    // In good times it never comes near its bound.
    expect(2 * beatIntervalMs(t)).toBeLessThanOrEqual(replicaFenceMs(t))
  },
)

test('an unknown preset is one problem, not several', () => {
  const read = () => readConfig({ Q_PRESET: 'relaxd', Q_REPLICA_BEAT_MS: '120000' })
  expect(read).toThrow('Q_PRESET=relaxd')
  expect(read).not.toThrow('Q_REPLICA_STALE_MS')
})
