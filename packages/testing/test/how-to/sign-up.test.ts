// sign-up.test.ts: run by vitest
import '@q/testing/vitest'
import { runTask, testQueue } from '@q/testing'
import { beforeEach, expect, test, vi } from 'vitest'
import { mail } from './mail.ts'
import { signUp } from './sign-up.ts'
import * as tasks from './tasks.ts'

const send = vi.spyOn(mail, 'send')
beforeEach(() => void send.mockReset().mockResolvedValue())

test('a new user gets a welcome mail, and a reminder a day later', async () => {
  await using q = await testQueue({ tasks }) // a database of its own, gone at the end
  await signUp(q, 'Ada@Example.org')
  await expect(q).toHaveEnqueued('welcome', { email: 'ada@example.org' })

  await q.drain() // executes what is ready, here, in this process
  expect(send).toHaveBeenCalledWith('ada@example.org', 'Welcome!')
  await expect(q).toHaveEnqueued('remind', { email: expect.stringContaining('ada') }, { delay: '1d', times: 1 })

  await q.travel('1d') // time passes
  const { ran } = await q.drain()
  expect(ran).toMatchObject([{ task: 'remind', outcome: 'succeeded' }])
})

test('a welcome mail is sent again after the mail server was unreachable', async () => {
  await using q = await testQueue({ tasks })
  send.mockRejectedValueOnce(new Error('connection refused'))
  await signUp(q, 'ada@example.org')
  expect((await q.drain()).ran).toMatchObject([{ outcome: 'retried', detail: 'Error: connection refused' }])

  await q.travel('2m') // the delay of a minute, and its jitter
  expect((await q.drain()).ran).toMatchObject([{ task: 'welcome', attempt: 2, outcome: 'succeeded' }])
})

test('a welcome mail whose machine died, and that may have been sent, is not sent again', async () => {
  await using q = await testQueue({ tasks })
  await signUp(q, 'ada@example.org')
  const id = await q.abandon('welcome') // a replica starts it, and dies

  await q.travel('2m')
  const { ran, recovered } = await q.drain()
  expect({ ran, recovered }).toEqual({ ran: [], recovered: [id] })
  await expect(q.handle(id).result()).rejects.toMatchObject({ code: 'WORKER_CRASHED' })
})

test('a total is computed, with progress', async () => {
  const { result, heartbeats, logs } = await runTask(tasks.total, { amounts: [1, 2] }) // no database
  expect(result).toEqual({ sum: 3 })
  expect(heartbeats.map(({ progress }) => progress)).toEqual([0, 0.5])
  expect(logs).toEqual([{ level: 'info', line: 'added up', facts: { sum: 3 } }])
})
