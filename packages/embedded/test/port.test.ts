import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openCluster } from '../src/cluster.ts'
import { findDataHome } from '../src/data-home.ts'
import { startEmbedded } from '../src/index.ts'
import { launch } from '../src/launch.ts'
import { findPrograms } from '../src/programs.ts'
import { ask } from './ask.ts'
import { processesIn, scratch, until } from './scratch.ts'

const dataDir = join(scratch(), 'db')
const silent = (): void => undefined

test('if another program took the port, another one is used', async () => {
  const first = await startEmbedded({ dataDir, durable: false })
  await first.close()
  const port = Number(new URL(first.url).port)
  await using squatter = createServer().listen(port, '127.0.0.1')
  await once(squatter, 'listening')
  const second = await startEmbedded({ dataDir, durable: false })
  expect(new URL(second.url).port).not.toBe(String(port))
  expect(await ask(second.url, 'SELECT 1')).toBe(1)
  expect(await second.close()).toBe('stopped')
})

test('a port taken between choosing and listening fails that one attempt, and nothing stays behind', async () => {
  const home = await findDataHome(dataDir, silent)
  const programs = await findPrograms(home, silent)
  const cluster = await openCluster(home, programs, false)
  await using squatter = createServer().listen(0, '127.0.0.1')
  await once(squatter, 'listening')
  const address = squatter.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  expect(await launch(cluster, programs, { port, durable: false, waitMs: 5_000 })).toEqual({ kind: 'port-taken' })
  await until(() => processesIn(dataDir).length === 0)
})
