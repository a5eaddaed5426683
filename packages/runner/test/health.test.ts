import { expect, test } from 'vitest'
import { containerMb } from '../src/main/stats/container-memory.ts'
import { beatInMs, judge, limitsWithin, slotsToFill } from '../src/main/stats/health.ts'
import { createProcessStats } from '../src/main/stats/process-stats.ts'

const limits = { degradedCpu: 70, unhealthyCpu: 90, degradedMb: 4_096, unhealthyMb: 8_192 }

test.each([
  [{ cpuPercent: 70, memoryMb: 4_096 }, 'healthy'],
  [{ cpuPercent: 70.1, memoryMb: 0 }, 'degraded'],
  [{ cpuPercent: 0, memoryMb: 4_097 }, 'degraded'],
  [{ cpuPercent: 90.1, memoryMb: 0 }, 'unhealthy'],
  [{ cpuPercent: 0, memoryMb: 8_193 }, 'unhealthy'],
])('%o is %s', (sign, health) => {
  expect(judge(sign, limits)).toBe(health)
})

test('in a small container the limits of memory are a share of it', () => {
  expect(limitsWithin(1_000, limits)).toMatchObject({ degradedMb: 700, unhealthyMb: 900 })
  expect(limitsWithin(1_000_000, limits)).toEqual(limits)
  expect(limitsWithin(0, limits)).toEqual(limits)
})

const v1 = { '/proc/self/cgroup': '8:pids:/\n4:memory:/pod/box\n0::/' }
const v2 = { '/proc/self/cgroup': '0::/pod/box' }
const unlimited = String(2 ** 63)

test.each<[string, Record<string, string>, number, number]>([
  ['its own', { ...v1, '/sys/fs/cgroup/memory/pod/box/memory.limit_in_bytes': '536870912' }, 0, 512],
  [
    'that of the group above it',
    {
      ...v1,
      '/sys/fs/cgroup/memory/pod/box/memory.limit_in_bytes': unlimited,
      '/sys/fs/cgroup/memory/pod/memory.limit_in_bytes': '536870912',
    },
    2 ** 63,
    512,
  ],
  [
    'the least of all, where there is one hierarchy',
    {
      ...v2,
      '/sys/fs/cgroup/pod/box/memory.max': '1073741824',
      '/sys/fs/cgroup/pod/memory.max': '536870912',
      '/sys/fs/cgroup/memory.max': 'max',
    },
    0,
    512,
  ],
  ['that of the root, where the path leads nowhere', { ...v2, '/sys/fs/cgroup/memory.max': '536870912' }, 0, 512],
  ['what Node says, where nothing can be read', {}, 536_870_912, 512],
  ['none', { ...v2, '/sys/fs/cgroup/pod/box/memory.max': 'max' }, 0, 0],
])('the memory of the container is %s', (_, files, own, expected) => {
  expect(containerMb((path) => files[path] ?? '', own)).toBe(expected)
})

test('a degraded replica fills half of its slots, an unhealthy replica none', () => {
  expect(slotsToFill('healthy', { total: 5, free: 4 })).toBe(4)
  expect(slotsToFill('degraded', { total: 5, free: 5 })).toBe(3)
  expect(slotsToFill('degraded', { total: 5, free: 3 })).toBe(1)
  expect(slotsToFill('degraded', { total: 5, free: 1 })).toBe(0)
  expect(slotsToFill('unhealthy', { total: 5, free: 5 })).toBe(0)
})

test('poor health shortens the interval of heartbeats, and never lengthens it', () => {
  expect(['healthy', 'degraded', 'unhealthy'].map((health) => beatInMs(health as 'healthy', 300_000))).toEqual([
    300_000, 150_000, 75_000,
  ])
  expect(beatInMs('unhealthy', 2_000)).toBe(1_000)
  expect(beatInMs('unhealthy', 400)).toBe(400)
})

test('CPU time of runs does not make a replica unhealthy; CPU time that no run accounts for does', () => {
  const now = { ms: 0, cpuMs: 0 }
  const use = () => ({ cpuMs: now.cpuMs, memoryMb: 0 })
  const processStats = createProcessStats(limits, { cores: 1, nowMs: () => now.ms, use })
  const pass = (ms: number, cpuMs: number) => Object.assign(now, { ms: now.ms + ms, cpuMs: now.cpuMs + cpuMs })
  processStats.runBegan()
  pass(2_000, 1_900)
  processStats.runEnded()
  processStats.look()
  expect(processStats.read()).toMatchObject({ health: 'healthy', cpuPercent: 95 })
  pass(2_000, 1_500)
  processStats.look()
  expect(processStats.read()).toMatchObject({ health: 'degraded', cpuPercent: 75 })
  pass(2_000, 2_000)
  processStats.look()
  expect(processStats.health()).toBe('unhealthy')
  pass(100, 0)
  processStats.look() // over less time than a second a number says nothing
  expect(processStats.health()).toBe('unhealthy')
})

test('memory and CPU of child processes count for health, and are shown', () => {
  const now = { ms: 0, cpuMs: 0 }
  const use = () => ({ cpuMs: now.cpuMs, memoryMb: 5_000 })
  const processStats = createProcessStats(limits, { cores: 2, nowMs: () => now.ms, use })
  expect(processStats.read()).toMatchObject({ health: 'degraded', memoryMb: 5_000 })
  processStats.runBegan()
  Object.assign(now, { ms: 1_000, cpuMs: 2_000 }) // its program uses both cores
  processStats.look()
  expect(processStats.read()).toMatchObject({ cpuPercent: 100, memoryMb: 5_000 })
})

test('CPU time that disappears with a process never makes the figure negative', () => {
  const now = { ms: 0, cpuMs: 5_000 }
  const processStats = createProcessStats(limits, {
    cores: 1,
    nowMs: () => now.ms,
    use: () => ({ cpuMs: now.cpuMs, memoryMb: 0 }),
  })
  Object.assign(now, { ms: 1_000, cpuMs: 4_000 })
  processStats.look()
  expect(processStats.read()).toMatchObject({ cpuPercent: 0, health: 'healthy' })
})
