import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startEmbedded } from '../src/index.ts'
import { ask, systemIdOf } from './ask.ts'
import { otherProcess, USER_PROCESS } from './other-process.ts'
import { processesIn, scratch, until } from './scratch.ts'

const dataDir = join(scratch(), 'db')
const start = (): ReturnType<typeof startEmbedded> => startEmbedded({ dataDir, durable: false })

test('four processes that start at the same time without data end up on one server', async () => {
  const four = await Promise.all(Array.from({ length: 4 }, () => otherProcess({ dataDir })))
  expect(new Set(four.map(({ url }) => url)).size).toBe(1)
  expect(new Set(await Promise.all(four.map(({ url }) => systemIdOf(url)))).size).toBe(1)
  expect(four.filter(({ how }) => how === 'started')).toHaveLength(1)
  expect(readdirSync(dataDir), 'the losers threw theirs away').toEqual(['cluster'])

  const answers = []
  for (const one of four) answers.push(await one.leave())
  expect(answers).toEqual(['left-running', 'left-running', 'left-running', 'stopped'])
  await until(() => processesIn(dataDir).length === 0)
})

test('a process that joins while the last user leaves never gets a dead server', async () => {
  let current = await start()
  for (let round = 0; round < 15; round++) {
    const [next] = await Promise.all([start(), leaveAfter(current, round * 4)])
    expect(await ask(next.url, 'SELECT 1')).toBe(1)
    current = next
  }
  expect(await current.close()).toBe('stopped')

  // The steps of a start shift against those of a leave from round to round, so that many orders are tried.
  async function leaveAfter(server: typeof current, ms: number): Promise<void> {
    await ask(server.url, `SELECT pg_sleep(${ms / 1000})`)
    await server.close()
  }
})

test('processes that join and leave at random never get a dead server', async () => {
  const order = JSON.stringify({ dataDir, mode: 'come-and-go', rounds: 8 })
  const children = Array.from({ length: 3 }, () => fork(USER_PROCESS, [order], { execArgv: [] }))
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0] as number))
  expect(codes).toEqual([0, 0, 0])
  await until(() => processesIn(dataDir).length === 0)
})

test('two users in one process count as two', async () => {
  const [one, other] = await Promise.all([start(), start()])
  expect(one.url).toBe(other.url)
  expect(await one.close()).toBe('left-running')
  expect(await other.close()).toBe('stopped')
})
