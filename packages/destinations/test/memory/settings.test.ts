import { expect, test } from 'vitest'
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

test('a memory destination needs an absolute file, and nothing else', () => {
  expect(problemsOf({ file: '/var/lib/q/memory.jsonl' })).toEqual([])
  expect(problemsOf({ file: '/m', command: ['npx', '-y', 'server'], prefix: 'team/q', locks: true })).toEqual([])
  expect(problemsOf({})).toHaveLength(1)
  expect(problemsOf({ file: '/m', command: [] })).toHaveLength(1)
})
