import { expect, test } from 'vitest'
import { memoryState } from '../memory-state.ts'
import { destinationKinds } from '../../src/index.ts'

const problemsOf = (settings: Record<string, unknown>) => destinationKinds['memory']!.problemsOf(settings)

test('every mistake in the settings of a memory destination is named at once', () => {
  const problems = problemsOf({ file: 'memory.jsonl', command: 'npx', prefix: 'a//b', locks: 'yes', token: 'x' })
  expect(problems.map((problem) => /^"(\w+)"/.exec(problem)?.[1])).toEqual([
    'file',
    'command',
    'prefix',
    'locks',
    'token',
  ])
})

test('a memory destination needs no settings', () => {
  expect(problemsOf({})).toEqual([])
  expect(problemsOf({ file: '/var/lib/q/memory.jsonl' })).toEqual([])
  expect(problemsOf({ file: '/m', command: ['npx', '-y', 'server'], prefix: 'team/q', locks: true })).toEqual([])
  expect(problemsOf({ file: '/m', command: [] })).toHaveLength(1)
})

test('a destination without a file uses the one of the replica, which must have one', async () => {
  const open = (file: string | undefined) =>
    destinationKinds['memory']!.open({
      name: 'memory',
      settings: {},
      env: (variable) => (variable === 'Q_MEMORY_FILE' ? file : undefined),
      state: memoryState(),
      nowMs: () => 0,
      log: () => {},
    })
  await expect(open(undefined)).rejects.toMatchObject({ code: 'MEMORY_FILE_MISSING' })
  await expect(open('memory.jsonl')).rejects.toMatchObject({ code: 'MEMORY_FILE_MISSING' })
  const sender = await open('/does/not/exist/memory.jsonl')
  expect(await sender.test()).toMatchObject({ error: expect.stringContaining('/does/not/exist/memory.jsonl') })
  await sender.close()
})
