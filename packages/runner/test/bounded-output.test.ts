/** Output that is not read must not stop a replica: its heartbeats come from the thread that writes the log. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { PassThrough, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { queue } from '@q/client'
import { testDatabase } from '@q/testing'
import { boundOutput } from '../src/output/bounded-output.ts'
import { moduleUrl } from './module-url.ts'
import type * as tasks from './tasks/talkative.ts'

const program = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const talkative = fileURLToPath(moduleUrl('talkative'))

test('output that is not read waits up to a bound; further writes are dropped, counted and reported once', async () => {
  const reader = new PassThrough({ highWaterMark: 1 })
  const output = new Writable({
    write: (chunk: Buffer, _, done) => void (reader.write(chunk) ? done() : reader.once('drain', done)),
  }) as unknown as NodeJS.WriteStream
  const reports: number[] = []
  boundOutput(output).onDropped((dropped) => void reports.push(dropped))
  const line = 'x'.repeat(65_536)
  for (let count = 0; count < 100; count++) output.write(line)
  expect(output.writableLength).toBeLessThanOrEqual(1_048_576 + line.length)
  expect(reports).toEqual([])
  const kept = output.writableLength / line.length
  reader.resume()
  await once(output, 'drain')
  expect(reports).toEqual([100 - kept])
  output.write('more')
  expect(reports).toHaveLength(1)
})

test('a replica whose output is not read, or whose reader has gone, keeps working and leaves in order', async () => {
  const database = await testDatabase()
  onTestFinished(database.drop)
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const replica = spawn(process.execPath, ['--conditions=@q/source', program], {
    env: {
      PATH,
      HOME,
      NODE_COMPILE_CACHE,
      DATABASE_URL: database.url,
      Q_TASKS: talkative,
      Q_LOG_LEVEL: 'debug',
      Q_HTTP: 'off',
    },
  })
  const ended = once(replica, 'exit')
  onTestFinished(() => void replica.kill('SIGKILL'))
  const q = queue<typeof tasks>(database.url)
  onTestFinished(() => q.close())
  for (const task of ['talks', 'talksAlone'] as const)
    expect(await (await q.enqueue(task, {})).result({ timeout: '50s' })).toBe('talked')
  expect(await (await q.enqueue('echo', 'alive')).result({ timeout: '100s' })).toBe('alive')
  replica.stdout.destroy()
  expect(await (await q.enqueue('talks', {})).result({ timeout: '100s' })).toBe('talked')
  expect(await (await q.enqueue('echo', 'alive')).result({ timeout: '100s' })).toBe('alive')
  replica.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})
