/** Lines that a task writes to the console are part of its log. */
import { expect, test } from 'vitest'
import type { TaskLine } from '../src/protocol/messages.ts'
import { inProcesses, onThreads, type Scene } from './executor-scene.ts'

async function logOf({ send }: Scene, task: string): Promise<TaskLine[]> {
  const lines: TaskLine[] = []
  const { report } = send(task, { onMessage: (message) => void (message.kind === 'log' && lines.push(message.line)) })
  expect(await report).toMatchObject({ ended: 'returned' })
  return lines
}

test.each([
  ['a thread', () => onThreads('console'), 'speaksHere'],
  ['a child process', () => inProcesses('console', ['speaksAlone']), 'speaksAlone'],
])(
  'lines that a task on %s writes to the console are in its log, in order, with their level',
  async (_, scene, task) => {
    const lines = await logOf(scene(), task)
    expect(lines.map(({ lineNo, level, line }) => [lineNo, level, line])).toEqual([
      [1, 30, 'hello Ada { deep: { er: [ 1 ] } }'],
      [2, 20, 'detail'],
      [3, 30, 'by ctx.log'],
      [4, 40, 'careful'],
      [5, 50, 'failed: odd'],
      [6, 30, expect.stringContaining('│')],
      [7, 30, '{ b: 2 }'],
    ])
  },
)

test('a line that code writes to the console after its run has ended is not in the log of the next run', async () => {
  const scene = onThreads('console')
  await logOf(scene, 'speaksLate')
  expect((await logOf(scene, 'speaksBeside')).map(({ line }) => line)).toEqual(['mine'])
})

test('lines that a task writes to the console without end are kept up to a limit', async () => {
  const lines = await logOf(onThreads('console'), 'speaksOn')
  expect(lines).toHaveLength(10_000)
  expect(lines.at(-1)).toMatchObject({ level: 40, line: expect.stringContaining('the rest is not kept') })
})
