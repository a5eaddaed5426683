/** Log lines with unusual values. */
import { expect, test } from 'vitest'
import type { TaskLine } from '../src/protocol/messages.ts'
import { createTaskLog } from '../src/thread/task-log.ts'

function logged(write: (log: ReturnType<typeof createTaskLog>) => void): Pick<TaskLine, 'line' | 'facts'>[] {
  const lines: TaskLine[] = []
  write(createTaskLog((line) => void lines.push(line)))
  return lines.map(({ line, facts }) => ({ line, facts }))
}

const unreadable = {
  get fact(): unknown {
    throw new Error('not today')
  },
}
const stackless = Object.defineProperty(new Error('odd'), 'stack', {
  get() {
    throw new Error('no stack')
  },
})

test.each<[string, unknown, string]>([
  ['nothing', undefined, 'undefined'],
  ['null', null, 'null'],
  ['a number', 5, '5'],
])('%s instead of facts is a line, and does not throw', (_, given, line) => {
  expect(logged((log) => log.info(given as never))).toEqual([{ line, facts: null }])
})

test.each<[string, unknown]>([
  ['a getter that throws', unreadable],
  ['an error without a stack', { error: stackless }],
  ['a proxy', new Proxy({}, { ownKeys: () => ['a', 'a'] })],
])('facts that cannot be read, %s, are left out, and the line is kept', (_, facts) => {
  const lines = logged((log) => log.warn(facts as never, 'kept'))
  expect(lines).toEqual([{ line: 'kept', facts: expect.stringContaining('leftOut') }])
})

test('a bigint among the facts keeps all its digits, and the other facts stay', () => {
  expect(logged((log) => log.info({ id: 2n ** 53n + 1n, name: 'ada' }, 'found'))).toEqual([
    { line: 'found', facts: '{"id":"9007199254740993","name":"ada"}' },
  ])
})

test('facts that resemble a secret are still JSON without it', () => {
  const facts = { quote: "token: 'x", list: ["it's"], password: 'hunter2', nested: { url: 'pg://u:hunter2@h' } }
  const [line] = logged((log) => log.info(facts, 'odd'))
  expect(JSON.parse(line!.facts!)).toEqual({ ...facts, password: '***', nested: { url: 'pg://u:***@h' } })
})

test('an error without a sentence becomes a line with its message', () => {
  const [line] = logged((log) => log.error(new TypeError('bad luck') as never))
  expect(line?.line).toBe('TypeError: bad luck')
  expect(line?.facts).toContain('task-log.test.ts')
})
