/** A test that leaks one resource of each kind, for leaks.test.ts. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'

test('passes, and leaves a thread, a child process, a socket and a timer behind', async () => {
  await once(new Worker('setInterval(() => {}, 1_000)', { eval: true }), 'online')
  await once(spawn('sleep', ['600.25']), 'spawn')
  await once(createServer().listen(0, '127.0.0.1'), 'listening')
  expect(setTimeout(() => {}, 600_000).hasRef()).toBe(true)
})
