import { expect, test } from 'vitest'
import { repository, status, testDestination } from './destination.ts'

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()

test('labels and assignee follow the status of the run', async () => {
  const { server, send } = await testDestination({ assignee: 'q-bot' })
  const issue = server.issue(repository, 12)
  issue.labels.push('bug')
  const seen = []
  for (const [second, state] of (
    ['AVAILABLE', 'CLAIMED', 'RUNNING', 'PENDING', 'RUNNING', 'SUCCEEDED'] as const
  ).entries()) {
    expect(await send(status({ status: state, at: at(second) }))).toEqual({ kind: 'delivered' })
    seen.push([...issue.labels.slice(1), ...issue.assignees].join(' '))
  }
  expect(seen).toEqual([
    'status:queued',
    'status:queued',
    'status:in-progress q-bot',
    'status:queued',
    'status:in-progress q-bot',
    '',
  ])
})

test('an older status never overwrites a newer one', async () => {
  const { server, send } = await testDestination()
  await send(status({ status: 'RUNNING', at: at(5) }))
  await send(status({ status: 'AVAILABLE', at: at(4) }))
  expect(server.issue(repository, 12).labels).toEqual(['status:in-progress'])
})

test('a label that is already there, or already gone, is no error', async () => {
  const { server, send } = await testDestination()
  server.plan({ on: /^POST .*labels/, answer: { status: 409, body: { message: 'already_exists' } } })
  server.plan({ on: /^DELETE .*labels/, answer: { status: 404, body: { message: 'Label does not exist' } } })
  expect(await send(status())).toEqual({ kind: 'delivered' })
})

test('without labels and assignee in the settings, a status changes nothing on GitHub', async () => {
  const { server, send } = await testDestination({ labels: false })
  expect(await send(status())).toEqual({ kind: 'delivered' })
  expect(server.requests).toEqual([])
})

test('the status of a workflow changes nothing on GitHub', async () => {
  const { server, sender } = await testDestination()
  const payload = { of: 'workflow', workflowId: '1', name: 'w', status: 'RUNNING', previous: null, at: at(0) } as const
  const report = {
    id: '1',
    kind: 'status',
    subject: 'workflow/1',
    createdAt: new Date(0),
    attempt: 1,
    payload,
  } as const
  expect(await sender.send([report])).toEqual([{ kind: 'delivered' }])
  expect(server.requests).toEqual([])
})
