import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startEmbedded } from '../src/index.ts'
import { countUsers } from './ask.ts'
import { otherProcess } from './other-process.ts'
import { postmasterPid, processesIn, scratch, until } from './scratch.ts'

test('Ctrl-C in the terminal of the starter does not reach the server', async () => {
  const dataDir = join(scratch(), 'db')
  // detached: a process group of its own, as a shell gives to what it starts.
  const starter = await otherProcess({ dataDir }, { detached: true })
  const server = postmasterPid(dataDir)
  const gone = once(starter.child, 'exit')
  process.kill(-(starter.child.pid ?? 0), 'SIGINT')
  expect(await gone).toEqual([null, 'SIGINT'])

  await until(async () => (await countUsers(starter.url)) === 0)
  const next = await startEmbedded({ dataDir, durable: false })
  expect(next.how).toBe('adopted')
  expect(postmasterPid(dataDir)).toBe(server)
  expect(await next.close()).toBe('stopped')
  await until(() => processesIn(dataDir).length === 0)
})
