/** Writes of a replica that has left while the database was unreachable: they must not be retried. */
import { expect, test } from 'vitest'
import type { RunId, Store } from '@q/store'
import type { RunnerEvent } from '../src/main/events.ts'
import { releaseRun, settle, snooze, type SettleDeps } from '../src/main/execute/settle.ts'
import { createTaskLogs } from '../src/main/execute/task-logs.ts'

const lease = { runId: '1' as RunId, fence: 1 }
const by = { hostname: 'h', pid: 1, thread: 0 }
const away = () => Promise.reject(new Error('Connection terminated unexpectedly'))

/** A replica whose database is away, and that leaves when the first write has failed. */
function leaving() {
  const left = new AbortController()
  const events: RunnerEvent[] = []
  const store = { releaseTaskRuns: away, snoozeTaskRun: away, appendTaskLogs: away } as Partial<Store> as Store
  const observe = (event: RunnerEvent) => {
    events.push(event)
    left.abort(new Error('The replica has left.'))
  }
  const deps: SettleDeps = { store, observe, settlements: { add: away }, hasLeft: left.signal }
  return { deps, events, logs: createTaskLogs(store, observe, left.signal) }
}

const writes = {
  outcome: (deps: SettleDeps) => settle(deps, { lease, outcome: { status: 'SUCCEEDED', result: '1' }, by }, false),
  release: (deps: SettleDeps) => releaseRun(deps, lease, by),
  snooze: (deps: SettleDeps) => snooze(deps, lease, 1_000, 5),
}

for (const [name, write] of Object.entries(writes)) {
  test(`a replica that has left does not retry a write: ${name}`, async () => {
    const { deps, events } = leaving()
    await expect(write(deps)).rejects.toThrow('The replica has left.')
    expect(events).toMatchObject([{ type: 'settle-failed' }])
  })
}

test('a replica that has left drops the log lines that were not written', async () => {
  const { logs, events } = leaving()
  logs.add('talks', { lineNo: 1, level: 30, line: 'l', facts: null, atMs: 0, lease })
  await logs.written(lease)
  expect(events).toMatchObject([{ type: 'task-log' }])
})
