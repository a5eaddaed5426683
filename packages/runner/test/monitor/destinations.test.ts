/** Heartbeats to destinations, without a database. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { HeartbeatMonitor, type MonitorAlert, type HeartbeatConfig, type HeartbeatData } from '@q/runner/monitor'

vi.stubEnv('DATABASE_URL', '')
const often = { heartbeat_interval: 100, stale_threshold: 1_000, detection_interval: 100, retry_delay: 0 }

/** A monitor that has started, and everything it said. */
async function started(config: HeartbeatConfig) {
  const warnings: string[] = []
  const alerts: MonitorAlert[] = []
  const monitor = new HeartbeatMonitor('worker-local-1', '', {
    warn: (sentence) => warnings.push(sentence),
    onAlert: (alert) => alerts.push(alert),
    ...often,
    ...config,
  })
  onTestFinished(() => monitor.stop())
  await monitor.start()
  return { monitor, warnings, alerts }
}

/** A destination that answers as `outcome` says for each call, from 1; `calls(n)` resolves with its nth call. */
function destination(name: string, outcome: (call: number) => Promise<void> = async () => {}) {
  const sent: HeartbeatData[] = []
  let waiting: { readonly count: number; readonly resolve: () => void }[] = []
  return {
    name,
    sent,
    async calls(count: number): Promise<void> {
      if (sent.length >= count) return
      await new Promise<void>((resolve) => waiting.push({ count, resolve }))
    },
    async send(heartbeat: HeartbeatData): Promise<void> {
      sent.push(heartbeat)
      for (const waiter of waiting) if (waiter.count <= sent.length) waiter.resolve()
      waiting = waiting.filter(({ count }) => count > sent.length)
      await outcome(sent.length)
    },
  }
}

const fails = async () => {
  throw new Error('rate limit')
}

test('without a database a monitor only reports to its destinations, and says so', async () => {
  const log = destination('log')
  const { monitor, warnings } = await started({ destinations: [log] })
  monitor.addTask('task-123')
  monitor.addTask({ runId: '456', fence: 1 })
  await log.calls(log.sent.length + 1)
  expect(warnings).toEqual([expect.stringMatching(/has no database .* it only reports to 1 destinations/)])
  expect(log.sent.at(-1)).toEqual({
    worker_id: 'worker-local-1',
    timestamp: expect.any(Number),
    health_status: expect.stringMatching(/^(healthy|degraded|unhealthy)$/),
    current_tasks: ['task-123', '456'],
    capacity_available: 3,
    metrics: {
      cpu_usage: expect.any(Number),
      memory_usage: expect.any(Number),
      tasks_completed: 0,
      tasks_failed: 0,
      uptime: expect.any(Number),
    },
  })
  monitor.removeTask('task-123')
  monitor.removeTask({ runId: '456', fence: 1 })
  await log.calls(log.sent.length + 2)
  expect(log.sent.at(-1)).toMatchObject({ current_tasks: [], capacity_available: 5 })
})

test('a failing destination neither stops the heartbeats nor repeats those to the others', async () => {
  const good = destination('good')
  const bad = destination('bad', fails)
  await started({ destinations: [bad, good] })
  await bad.calls(6)
  await good.calls(2)
  const times = good.sent.map(({ timestamp }) => timestamp)
  expect(new Set(times).size).toBe(times.length)
})

test('a heartbeat is tried as often as configured, and then given up', async () => {
  const bad = destination('bad', fails)
  await started({ destinations: [bad], retry_attempts: 3 })
  await bad.calls(4)
  const [first, second, third, next] = bad.sent
  expect([second, third]).toEqual([first, first])
  expect(next).not.toEqual(first)
})

test('the third failure in a row raises one alert, and a success starts a new count', async () => {
  const failing = new Set([1, 2, 3, 4, 6, 7, 9, 10, 11])
  const flaky = destination('flaky', async (call) => (failing.has(call) ? fails() : undefined))
  const { alerts, warnings } = await started({ destinations: [flaky], retry_attempts: 1 })
  await flaky.calls(12)
  expect(alerts).toMatchObject([
    { worker_id: 'worker-local-1', destination: 'flaky', error: 'rate limit', consecutive_failures: 3 },
    { destination: 'flaky', consecutive_failures: 3 },
  ])
  expect(warnings.filter((sentence) => sentence.includes('three failures in a row'))).toHaveLength(2)
})

test('destinations of one name are counted apart: a success of one hides no failure of the other, and an alert reaches it', async () => {
  const [good, bad] = [destination('twin'), destination('twin', fails)]
  const received = Promise.withResolvers<MonitorAlert>()
  const alerted = { ...good, alert: async (alert: MonitorAlert) => received.resolve(alert) }
  const { alerts } = await started({ destinations: [bad, alerted], retry_attempts: 1 })
  await bad.calls(4)
  expect(alerts).toMatchObject([{ destination: 'twin', consecutive_failures: 3 }])
  expect(await received.promise).toMatchObject({ destination: 'twin', consecutive_failures: 3 })
})

test('a destination that throws when it receives an alert does no harm', async () => {
  const bad = destination('bad', fails)
  const received = Promise.withResolvers<MonitorAlert>()
  const careless = {
    ...destination('careless'),
    alert(alert: MonitorAlert): Promise<void> {
      received.resolve(alert)
      throw new Error('a mistake')
    },
  }
  await started({ destinations: [careless, bad], retry_attempts: 1 })
  expect(await received.promise).toMatchObject({ destination: 'bad', consecutive_failures: 3 })
  await bad.calls(5)
})

test('a destination gets one heartbeat at a time, and a slow one delays no other', async () => {
  const gate = Promise.withResolvers<void>()
  const slow = destination('slow', () => gate.promise)
  const quick = destination('quick')
  await started({ destinations: [slow, quick] })
  await quick.calls(3)
  expect(slow.sent).toHaveLength(1)
  gate.resolve()
  await slow.calls(2)
})

test('no heartbeat is sent after the stop', async () => {
  const log = destination('log')
  const { monitor } = await started({ destinations: [log] })
  await log.calls(1)
  await monitor.stop()
  const count = log.sent.length
  const other = destination('other')
  await started({ destinations: [other] })
  await other.calls(3)
  expect(log.sent).toHaveLength(count)
})

test('an alert repeats no secret of the error that raised it', async () => {
  const raised = Promise.withResolvers<MonitorAlert>()
  const hook = destination('hook', async () => {
    throw new Error('https://worker:canary-81f3a2@hooks.example.com refused it')
  })
  const { warnings } = await started({ destinations: [hook], onAlert: raised.resolve })
  const { error } = await raised.promise
  expect(error).toContain('refused it')
  expect(`${error} ${warnings.join(' ')}`).not.toContain('canary-81f3a2')
})

test('a log destination says each heartbeat', async () => {
  const said = Promise.withResolvers<string>()
  await started({
    destinations: [{ name: 'dev', kind: 'log', settings: {} }],
    warn: (sentence) => void (sentence.startsWith('dev: report') && said.resolve(sentence)),
  })
  expect(await said.promise).toContain('"worker_id":"worker-local-1"')
})
