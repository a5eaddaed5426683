import { expect, test } from 'vitest'
import { destinationKinds, type Report } from '../src/index.ts'
import { memoryState } from './memory-state.ts'

const alert: Report = {
  id: '7.1',
  kind: 'alert',
  subject: 'replica/a/alert',
  createdAt: new Date(0),
  attempt: 1,
  payload: { worker_id: 'eu-1', timestamp: 0, error: 'connection refused', consecutive_failures: 3 },
}

test('the log destination writes each report with its id, and reports it as delivered', async () => {
  const lines: unknown[] = []
  const kind = destinationKinds['log']
  if (kind === undefined) throw new Error('there is no kind log')
  const sender = await kind.open({
    name: 'dev',
    settings: {},
    env: () => undefined,
    state: memoryState(),
    nowMs: () => 0,
    log: (level, facts, sentence) => lines.push({ level, ...facts, sentence }),
  })
  expect(await sender.send([alert])).toEqual([{ kind: 'delivered' }])
  expect(await sender.test()).toEqual({ kind: 'delivered' })
  await sender.close()
  expect(lines).toMatchObject([
    { level: 'info', destination: 'dev', id: '7.1', kind: 'alert', sentence: 'report' },
    { sentence: 'test report' },
  ])
})
