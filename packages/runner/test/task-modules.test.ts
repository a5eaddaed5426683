import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readConfig, startRunner } from '@q/runner'
import { TaskDefinitionError } from '@q/task'
import { testDatabase } from '@q/testing'
import { startThreads } from '../src/main/executors/thread-pool.ts'
import { problemText } from '../src/output/report-error.ts'
import { createSlotMemory } from '../src/protocol/slot-layout.ts'
import { findTaskModules } from '../src/startup/task-modules.ts'
import { loadTasks } from '../src/thread/registry.ts'
import { moduleUrl } from './fixture.ts'

describe('a task module', () => {
  test.each([
    ['throws-on-import', 'TASK_MODULE_FAILED', 'no database driver here'],
    ['throws-nothing', 'TASK_MODULE_FAILED', 'null prototype'],
    ['throws-a-strange-error', 'TASK_MODULE_FAILED', 'cannot be written as text'],
    ['throws-an-odd-stack', 'TASK_MODULE_FAILED', 'an odd stack'],
    ['exports-nothing', 'TASK_MODULE_EMPTY', 'task()'],
    ['default-export', 'TASK_NAME_INVALID', 'default'],
    ['does-not-exist', 'TASK_MODULE_FAILED', 'does-not-exist'],
  ])('that %s is reported as %s', async (name, code, hint) => {
    const { problems } = await loadTasks([moduleUrl(name)])
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatchObject({ code })
    expect(Object.values(problems[0]!).join(' ')).toContain(hint)
    expect(structuredClone(problems)).toEqual(problems)
  })

  test('may export objects that refuse to be read', async () => {
    const { tasks, problems } = await loadTasks([moduleUrl('exports-a-strict-object')])
    expect(problems).toEqual([])
    expect([...tasks.keys()]).toEqual(['echo'])
  })

  test('may name a task differently from its export, even the default one', async () => {
    const { tasks, problems } = await loadTasks([moduleUrl('named')])
    expect(problems).toEqual([])
    expect([...tasks.keys()].toSorted()).toEqual(['images.resize', 'plain'])
  })

  test('that defines a name which another one has is reported with both places', async () => {
    const { problems } = await loadTasks([moduleUrl('well-behaved'), moduleUrl('also-echo')])
    expect(problems).toMatchObject([{ code: 'TASK_DEFINED_TWICE' }])
    expect(problems[0]!.why).toMatch(/well-behaved\.ts and .*also-echo\.ts/)
  })

  test('with a mistake does not hide the mistakes of the others', async () => {
    const { problems } = await loadTasks(['throws-on-import', 'exports-nothing', 'default-export'].map(moduleUrl))
    expect(problems).toHaveLength(3)
  })
})

test('a task module that ends its loading thread fails the start with a reason', async () => {
  const database = await testDatabase()
  onTestFinished(database.drop)
  const starting = startRunner({
    databaseUrl: database.url,
    config: readConfig({ Q_THREADS: '1' }),
    version: '0',
    taskModules: [moduleUrl('exits-on-import')],
    observe: () => {},
  })
  await expect(starting).rejects.toMatchObject({ code: 'TASK_MODULE_FAILED', why: expect.stringContaining('died') })
})

test('the error of a broken task module names the line in that module', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'q-broken-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const files: Record<string, readonly string[]> = {
    'throws.mjs': ['', "throw new Error('no such setting')"],
    'syntax.mjs': ['', '', 'const a = = 1'],
    'syntax.ts': ['const a: number = 1', 'const b: = 2'],
    'imports.mjs': ["import './deeper.mjs'"],
    'deeper.mjs': ['', 'let 5'],
    'misses.mjs': ["import { nothing } from './empty.mjs'"],
    'empty.mjs': [''],
  }
  for (const [name, lines] of Object.entries(files)) writeFileSync(join(folder, name), lines.join('\n'))

  const places = {
    'throws.mjs': 'throws.mjs:2',
    'syntax.mjs': 'syntax.mjs:3',
    'syntax.ts': 'syntax.ts:2',
    'imports.mjs': 'deeper.mjs:2',
    'misses.mjs': 'misses.mjs:1',
  }
  const setup = {
    taskModules: Object.keys(places).map((name) => pathToFileURL(join(folder, name)).href),
    slotMemory: createSlotMemory(1),
  }
  const pool = startThreads({ threads: 1, memoryLimitMb: null }, setup)
  onTestFinished(() => pool.close())
  const { problems } = await pool.describe()
  const shown = problems.map(({ why }) => /\(at .*?([^/:]+:\d+)/.exec(why)?.[1])
  expect(shown).toEqual(Object.values(places))
  for (const { code, stack } of problems)
    expect([code, stack]).toEqual(['TASK_MODULE_FAILED', expect.stringContaining('Error')])
})

test('a task module that Node reads as CommonJS is reported with the setting of its package', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'q-commonjs-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'commonjs' }))
  const files = { 'imports.ts': "import { task } from '@q/task'", 'exports.js': 'export const a = 1' }
  for (const [name, line] of Object.entries(files)) writeFileSync(join(folder, name), line)
  const taskModules = Object.keys(files).map((name) => pathToFileURL(join(folder, name)).href)
  const pool = startThreads({ threads: 1, memoryLimitMb: null }, { taskModules, slotMemory: createSlotMemory(1) })
  onTestFinished(() => pool.close())
  const { problems } = await pool.describe()
  expect(problems.map(({ fix }) => fix)).toEqual(taskModules.map(() => expect.stringContaining('type=module')))
})

test('a task module with wrong options, or with an error that has a cause, is reported with its own line and the reason', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'q-broken-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const taskPackage = JSON.stringify(import.meta.resolve('@q/task'))
  const files = {
    'options.mjs': `import { task } from ${taskPackage}\nexport const a = task({ timeout: 'soon' }, () => 1)`,
    'cause.mjs': `throw new Error('config unreadable', { cause: new Error('line 7 is not JSON') })`,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const urls = Object.keys(files).map((name) => pathToFileURL(join(folder, name)).href)
  const { problems } = await loadTasks(urls)
  expect(problems[0]).toMatchObject({
    code: 'TASK_OPTIONS_INVALID',
    what: expect.stringMatching(/timeout: must be a duration.* \(at .*options\.mjs:2:18\)/),
    fix: expect.stringContaining('task({'),
  })
  expect(problems[1]!.why).toMatch(/config unreadable.*line 7 is not JSON/)
})

test('with Q_DEBUG=1 a problem is shown with the stack of its cause', () => {
  const cause = Object.assign(new Error('inner'), { stack: 'Error: inner\n    at tasks.ts:3:1' })
  const problem = new TaskDefinitionError({ code: 'TASK_MODULE_FAILED', what: 'w', why: 'y', fix: 'f', cause })
  expect(problemText(problem, { debug: true })).toContain('at tasks.ts:3:1')
  expect(problemText(problem, { debug: false })).not.toContain('at tasks.ts:3:1')
})

test('control characters that a problem quotes do not reach the terminal; its lines stay', () => {
  const problem = new TaskDefinitionError({ code: 'C', what: 'a\u001b[2Jb', why: 'y\u0007', fix: 'f\u009b31m' })
  expect(problemText(problem, { debug: false })).toBe('C  a [2Jb\n  why  y \n  fix  f 31m')
})

describe('Q_TASKS', () => {
  const here = fileURLToPath(new URL('.', import.meta.url))

  test('names files and globs, relative to where the command was given', () => {
    expect(findTaskModules(['tasks/*-echo.ts', 'tasks/well-behaved.ts'], { INIT_CWD: here })).toEqual([
      moduleUrl('also-echo'),
      moduleUrl('well-behaved'),
    ])
  })

  test('that matches nothing is an error that names the directory', () => {
    expect(() => findTaskModules(['nowhere/*.ts'], { INIT_CWD: here })).toThrow(
      expect.objectContaining({ code: 'TASK_MODULE_MISSING' }),
    )
  })

  test('unset means the demo tasks', async () => {
    const { tasks, problems } = await loadTasks(findTaskModules([], {}))
    expect(problems).toEqual([])
    expect([...tasks.keys()]).toEqual(['hello', 'primes', 'wait'])
  })
})
