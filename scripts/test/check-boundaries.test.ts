import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { rules } from '../boundaries/rules.ts'
import { readTree } from '../boundaries/source-tree.ts'
import { violations } from '../boundaries/violations.ts'

const root = await mkdtemp(join(tmpdir(), 'q boundaries '))
afterAll(() => rm(root, { recursive: true }))

/** Each planted violation: the file, its text, the rule that must name it and the line. */
const planted: [path: string, text: string, rule: string, line: number][] = [
  ['packages/schema/src/a.ts', "import '@q/store'", 'schema imports only itself', 1],
  ['packages/store/src/a.ts', "import '@q/task'", 'store imports only @q/schema', 1],
  ['packages/task/src/a.ts', "import type { A } from '@q/schema'", 'task imports only itself', 1],
  ['packages/embedded/src/a.ts', "\nimport '@q/schema'", 'embedded imports only itself', 2],
  ['packages/client/src/a.ts', "import '@q/runner/start'", 'client imports only @q/schema, @q/store, @q/task', 1],
  [
    'packages/runner/src/a.ts',
    "await import('@q/cli')",
    'runner imports only @q/schema, @q/store, @q/task, @q/embedded, @q/server, @q/destinations',
    1,
  ],
  [
    'packages/testing/src/a.ts',
    "export * from '@q/cli'",
    'testing imports only @q/schema, @q/store, @q/task, @q/client, @q/runner, @q/embedded',
    1,
  ],
  ['packages/testing/src/b.ts', "import '@q/runner'", '@q/testing enters the runner by its inline door only', 1],
  [
    'packages/testing/src/c.ts',
    "\nimport 'vitest'",
    'the exports of @q/testing load neither Piscina nor pino nor Vitest',
    2,
  ],
  ['packages/destinations/src/a.ts', "import '@q/store'", 'destinations imports only @q/schema', 1],
  ['packages/dashboard/src/a.ts', "import '@q/store'", 'dashboard imports only @q/server', 1],
  ['packages/dashboard/src/b.tsx', 'a()\ndiv.innerHTML = text', 'no markup from text on the page', 2],
  ['packages/dashboard/src/c.ts', "await fetch('/api/runs')", 'requests of the page are made in two files', 1],
  [
    'packages/server/src/a.ts',
    "import '@q/runner'",
    'server imports only @q/schema, @q/store, @q/task, @q/client, @q/destinations',
    1,
  ],
  [
    'packages/cli/src/a.ts',
    "import '@q/testing'",
    'cli imports only @q/schema, @q/store, @q/task, @q/client, @q/runner, @q/embedded, @q/server, @q/destinations',
    1,
  ],
  [
    'packages/chaos/src/a.ts',
    "import '@q/cli'",
    'chaos imports only @q/schema, @q/store, @q/task, @q/client, @q/runner, @q/embedded, @q/server, @q/testing',
    1,
  ],
  [
    'packages/bench/src/a.ts',
    "import '@q/cli'",
    'bench imports only @q/schema, @q/store, @q/task, @q/client, @q/runner, @q/embedded',
    1,
  ],
  ['packages/examples/src/a.ts', "import '@q/store'", 'examples imports only @q/client, @q/task', 1],
  [
    'packages/client/src/b.ts',
    "import '../../store/src/db.ts'",
    'packages import each other by name, never by file',
    1,
  ],
  ['packages/runner/src/b.ts', "import '@q/embedded'", '@q/embedded is imported in one file of the runner', 1],
  ['packages/runner/src/c.ts', "import '@q/server'", '@q/server is imported in one file of the runner', 1],
  [
    'packages/runner/src/startup/database.ts',
    "\nimport '@q/embedded'",
    'the exports of @q/runner load no embedded database, server or client',
    2,
  ],
  [
    'packages/runner/src/main/a.ts',
    "import '../thread/entry.ts'",
    'main and thread of the runner never import each other',
    1,
  ],
  [
    'packages/runner/src/thread/a.ts',
    "import '../main/loop.ts'",
    'thread and main of the runner never import each other',
    1,
  ],
  [
    'packages/runner/src/thread/b.ts',
    "import type { Kysely } from 'kysely'\nimport 'kysely/migration'",
    'a thread of the runner loads neither Kysely nor pg nor pino',
    2,
  ],
  ['packages/runner/src/child/b.ts', "import 'pg'", 'a child of the runner loads neither Kysely nor pg nor pino', 1],
  [
    'packages/cli/package.json',
    '{\n  "name": "@q/cli",\n  "dependencies": { "pg": "1" }\n}',
    'no kysely or pg for runner, server and cli',
    3,
  ],
  ['packages/client/src/c.ts', 'const pool = new pg.Pool()', 'connections are made in store/src/connection/db.ts', 1],
  ['packages/runner/src/main/b.ts', "import { Piscina } from 'piscina'", 'piscina is imported in one file', 1],
  [
    'packages/runner/src/main/executors/thread-pool.ts',
    "import 'piscina'\nimport.meta.resolve('@q/runner/thread')",
    'the exports of @q/runner/monitor load neither Piscina nor pino',
    1,
  ],
  ['packages/client/src/d.ts', "import { Cron } from 'croner'", 'croner is imported in one file', 1],
  ['packages/runner/src/observers/metrics.ts', "import 'pino'", 'pino is imported in one observer', 1],
  ['packages/runner/src/d.ts', "import '@q/destinations'", 'the runner loads destinations in one file', 1],
  ['packages/server/src/b.ts', "import '@prometheus-io/client'", 'the Prometheus client is imported in one file', 1],
  ['packages/client/src/e.ts', "import '@opentelemetry/api'", 'OpenTelemetry is imported in one file', 1],
  ['packages/destinations/src/b.ts', "import '@octokit/core'", 'Octokit is imported in one file', 1],
  [
    'packages/destinations/src/c.ts',
    "await import('@modelcontextprotocol/client')",
    'the MCP client is imported in one file',
    1,
  ],
  [
    'packages/runner/src/main/c.ts',
    'a()\nsetTimeout(a, 1)',
    'only loop.ts and the files listed here set timers in the runner',
    2,
  ],
  [
    'packages/runner/src/main/d.ts',
    "import { scheduler } from 'node:timers/promises'",
    'only loop.ts and the files listed here set timers in the runner',
    1,
  ],
  ['packages/store/src/b.ts', 'setInterval(a, 1)', 'no timers in the store', 1],
  ['packages/store/src/c.ts', "import { scheduler } from 'node:timers/promises'", 'no timers in the store', 1],
  ['packages/store/src/d.ts', 'const now = Date.now()', 'no Date.now in the store', 1],
  ['packages/store/src/e.ts', "const url = process.env['DATABASE_URL']", 'no process.env in the store', 1],
  ['packages/store/src/f.ts', "console.log('hello')", 'no logger in the store', 1],
  ['packages/chaos/src/b.ts', "import { c } from './c.ts'", 'no import cycles', 1],
  ['packages/chaos/src/c.ts', "export * from './d.ts'", 'no import cycles', 1],
  ['packages/chaos/src/d.ts', "\nimport './b.ts'", 'no import cycles', 2],
  [
    'packages/client/src/f.ts',
    '// export type Frame = 1\nexport interface Frame {}',
    'each exported name is declared in one file',
    2,
  ],
  ['packages/task/src/f.ts', 'export const Frame = 1', 'each exported name is declared in one file', 1],
  ['packages/server/src/api/g.ts', '\nexport type Lane = 1', 'each exported name is declared in one file', 2],
  ['packages/dashboard/src/g.ts', 'export function Lane() {}', 'each exported name is declared in one file', 1],
  ['packages/task/src/utils.ts', 'export {}', 'no file name that any code would fit', 1],
  ['packages/task/test/helpers.ts', 'export {}', 'no file name that any code would fit', 1],
  ['scripts/long.ts', 'a()\n'.repeat(251), 'no file over 250 lines', 251],
]

/** Allowed code, beside the rules that would forbid it. */
const innocent: [path: string, text: string][] = [
  ['packages/runner/src/index.ts', "export * from './reached.ts'"],
  ['packages/runner/src/reached.ts', "import '@q/runner/database'"],
  [
    'packages/runner/package.json',
    JSON.stringify({ name: '@q/runner', exports: { './database': { '@q/source': './src/startup/database.ts' } } }),
  ],
  ['packages/dashboard/src/api/request.ts', "await fetch('/api/runs')"],
  ['packages/client/src/h.ts', "export { Frame } from './f.ts'\nconst hello = 1"],
  ['packages/examples/src/h.ts', 'export const hello = 1'],
  ['packages/runner/src/h.ts', 'export async function hello() {}\nexport type hello = 1'],
  ['packages/store/src/h.ts', 'export interface RunView {}'],
  ['packages/server/src/api/h.ts', 'export type RunView = 1'],
  ['packages/chaos/src/e.ts', "import { b } from './b.ts'\nimport { f } from './f.ts'"],
  ['packages/chaos/src/f.ts', "import type { E } from './e.ts'\nawait import('./e.ts')"],
  ['packages/runner/src/main/loop.ts', 'setTimeout(a, 1)'],
  ['packages/runner/src/thread/entry.ts', "import './b.ts'\nawait import('./c.ts')"],
  ['packages/runner/src/thread/c.ts', "import 'kysely'"],
  ['packages/runner/src/child/entry.ts', "import './b.ts'"],
  ['packages/testing/src/index.ts', "import '@q/runner/inline'\nimport './c.ts'"],
  ['packages/testing/src/vitest.ts', "import 'vitest'"],
  ['packages/runner/src/monitor.ts', "import './main/executors/thread-pool.ts'"],
  [
    'packages/store/src/connection/db.ts',
    "const db = new Kysely() // process.env, setTimeout, Date.now\nconst text = 'console.log'",
  ],
  ['packages/schema/src/generated/db.ts', 'a()\n'.repeat(500)],
  ['packages/task/test/types.test.ts', 'export {}'],
  ['packages/task/node_modules/x/src/utils.ts', "import '@q/cli'"],
]

for (const [path, text] of [...planted, ...innocent]) {
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(join(root, path), text)
}
const found = violations(await readTree(root), rules)

test.each(planted)('%s is named', (path, _, rule, line) => {
  expect(found).toContainEqual(expect.objectContaining({ path, line, rule }))
})

test('nothing else is named', () => {
  const named = found.map(({ path, rule }) => `${path}: ${rule}`)
  expect(named.toSorted()).toEqual(planted.map(([path, , rule]) => `${path}: ${rule}`).toSorted())
})

test('every rule has been broken here, and has a reason', () => {
  expect([...new Set(found.map((violation) => violation.rule))].toSorted()).toEqual(
    [...new Set(rules.map((rule) => rule.rule))].toSorted(),
  )
  expect(rules.filter((rule) => rule.reason === '')).toEqual([])
})
