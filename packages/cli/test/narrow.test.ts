/** Narrow terminals: sentences are wrapped, because what is cut off cannot be read. */
import { afterAll, expect, test } from 'vitest'
import { createLooker } from '../src/top/facts.ts'
import { topLines } from '../src/top/layout.ts'
import { firstView } from '../src/top/view.ts'
import { runScreen } from '../src/screens/run.ts'
import { widthOf } from '../src/words/style.ts'
import { exampleCluster } from './example-cluster.ts'
import { q } from './terminal.ts'

const cluster = await exampleCluster()
const { env, runs } = cluster
afterAll(() => cluster.close())

const unwrapped = (text: string) => text.replaceAll(/\s+/g, ' ')

test('the facts of a run and of a node that drains are complete at 40 columns', async () => {
  await q(['drain', 'eu-2', '--deadline', '2m'], env)
  const [run, node] = await Promise.all([
    q(['show', runs.gated], env, { columns: 40 }),
    q(['node', 'eu-2'], env, { columns: 40 }),
  ])
  expect(unwrapped(run.stdout)).toContain('attempt 0 of 1; on crash: as the task says')
  expect(unwrapped(run.stdout)).toMatch(/It waits for its concurrency key a .*no run is ahead of it\./)
  expect(unwrapped(node.stdout)).toMatch(/ordered .* by tester; \d+ left; deadline .*, then by-task/)
  expect([...run.stdout.split('\n'), ...node.stdout.split('\n')].filter((line) => widthOf(line) > 40)).toEqual([])
})

test('a frame of a stack keeps its file and line, however narrow the terminal is', async () => {
  const context = 'at resize (file:///srv/app/packages/worker/src/tasks/images/resize.ts:118:9)'
  const detail = (await cluster.store.getTaskRun(runs.failed))!
  const result = { code: 'TASK_ERROR', detail: 'x', stack: `Error: x\n    ${context}` }
  const look = { columns: 40, colour: false, ascii: false }
  expect(runScreen(look, { detail: { ...detail, run: { ...detail.run, result } }, logs: [] })).toContain(context)
})

test('q why and q show name a time by the clock here, as every other screen', async () => {
  for (const line of [`why ${runs.later}`, `show ${runs.later}`]) {
    const { stdout } = await q(line.split(' '), env)
    expect(stdout).toMatch(/It waits until (tomorrow )?\d\d:\d\d(:\d\d)?, in /)
  }
})

test('q top shows whole items with their commands, and says how many more there are', async () => {
  const facts = await createLooker(cluster.store, 'here').look()
  const items = facts.attention.items
  expect(items.length).toBeGreaterThan(2)
  const screen = topLines({ columns: 40, colour: false, ascii: false }, 24, facts, firstView)
  const from = screen.findIndex((line) => line.endsWith(' things need you:'))
  const shown = screen.slice(from, -1).join('\n').trimEnd()
  const commands = items.filter(({ command }) => shown.includes(command))
  expect(commands.length).toBeGreaterThan(0)
  expect(commands.length).toBeLessThan(items.length)
  expect(shown.split('\n').at(-1)).toBe(`   … ${items.length - commands.length} more: q status`)
  expect(shown.match(/^ [✕!] /gm)).toHaveLength(commands.length)
  const { stdout } = await q(['top', '--count', '1'], env)
  expect(items.filter(({ command }) => !stdout.includes(command))).toEqual([])
})
