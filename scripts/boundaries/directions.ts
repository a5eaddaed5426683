/** The direction of imports: which package, and which part of the runner, may import which. */
import { importing, loading, outOfPackage, reaching } from './finds.ts'
import { cyclicImports } from './import-cycles.ts'
import type { Rule } from './rule.ts'

export const directions: readonly Rule[] = [
  ...Object.entries({
    schema: { may: [], because: 'the schema depends on no package that uses it' },
    store: { may: ['schema'], because: 'the store is below everybody who stores' },
    task: { may: [], because: 'a task is pure: client and runner both import it' },
    embedded: { may: [], because: 'embedded stands alone, so any program can use it' },
    destinations: { may: ['schema'], because: 'a sender knows reports and its receiver, not where reports are stored' },
    client: { may: ['schema', 'store', 'task'], because: 'a client works without a runner' },
    runner: {
      may: ['schema', 'store', 'task', 'embedded', 'server', 'destinations'],
      because: 'a runner works without client and CLI; only its start file adds a database and a page',
    },
    testing: {
      may: ['schema', 'store', 'task', 'client', 'runner', 'embedded'],
      because: 'it provides a queue, and a replica whose steps a test calls',
    },
    dashboard: { may: ['server'], because: 'the page knows the types of the API and nothing behind it' },
    server: { may: ['schema', 'store', 'task', 'client', 'destinations'], because: 'it serves any replica, or none' },
    cli: {
      may: ['schema', 'store', 'task', 'client', 'runner', 'embedded', 'server', 'destinations'],
      because: 'the CLI is on top',
    },
    chaos: {
      may: ['schema', 'store', 'task', 'client', 'runner', 'embedded', 'server', 'testing'],
      because: 'it kills whole fleets and shows that on the page, and nothing depends on it',
    },
    examples: {
      may: ['client', 'task'],
      because: 'they show what users write: tasks, and programs that use the client',
    },
    bench: {
      may: ['schema', 'store', 'task', 'client', 'runner', 'embedded'],
      because: 'it measures what people run, and nothing depends on it',
    },
  }).map(([name, { may, because }]) => ({
    rule: `${name} imports only ${may.length === 0 ? 'itself' : may.map((other) => `@q/${other}`).join(', ')}`,
    reason: because,
    find: importing(new RegExp(`^@q/(?!(${[name, ...may].join('|')})(/|$))`), { in: `packages/${name}/src/**` }),
  })),
  {
    rule: 'packages import each other by name, never by file',
    reason: 'a relative path into another package breaks when it is published',
    find: outOfPackage('packages/*/src/**'),
  },
  {
    rule: '@q/embedded is imported in one file of the runner',
    reason: 'only programs put a runner and a database server together',
    find: importing(/^@q\/embedded$/, {
      in: 'packages/runner/src/**',
      but: { 'packages/runner/src/startup/database.ts': 'finds the database of a program' },
    }),
  },
  {
    rule: '@q/server is imported in one file of the runner',
    reason: 'only programs put a runner and a page together',
    find: importing(/^@q\/server/, {
      in: 'packages/runner/src/**',
      but: { 'packages/runner/src/startup/page.ts': 'starts the page of a replica' },
    }),
  },
  {
    rule: 'the exports of @q/runner load no embedded database, server or client',
    reason: 'a program that embeds a runner has a database, and should not install a second one',
    find: reaching(/^@q\/(embedded|client|server)$/, { from: 'packages/runner/src/index.ts' }),
  },
  {
    rule: '@q/testing enters the runner by its inline door only',
    reason: 'tests of users start no threads, so they load no code that starts them',
    find: importing(/^@q\/runner(?!\/inline$)/, { in: 'packages/testing/src/**' }),
  },
  {
    rule: 'the exports of @q/testing load neither Piscina nor pino nor Vitest',
    reason: 'it runs under every test runner; only @q/testing/vitest needs Vitest',
    find: reaching(/^(piscina|pino|vitest)/, { from: 'packages/testing/src/index.ts' }),
  },
  {
    rule: 'the exports of @q/runner/monitor load neither Piscina nor pino',
    reason: 'a worker that executes runs itself loads no thread pool and no logger',
    find: reaching(/^(piscina|pino)/, { from: 'packages/runner/src/monitor.ts' }),
  },
  ...['thread', 'child'].map((name) => ({
    rule: `a ${name} of the runner loads neither Kysely nor pg nor pino`,
    reason: 'each thread would pay for them again: Kysely alone is 257 modules, 150 ms of CPU and 3.5 MB of heap',
    find: loading(/^(kysely|pg|pino)(\/|-|$)/, { from: `packages/runner/src/${name}/entry.ts` }),
  })),
  {
    rule: 'main and thread of the runner never import each other',
    reason: 'threads exchange only the plain data of src/protocol',
    find: importing(/^packages\/runner\/src\/thread\//, { in: 'packages/runner/src/main/**' }),
  },
  {
    rule: 'thread and main of the runner never import each other',
    reason: 'threads exchange only the plain data of src/protocol',
    find: importing(/^packages\/runner\/src\/main\//, { in: 'packages/runner/src/thread/**' }),
  },
  {
    rule: 'no import cycles',
    reason:
      'a reader would have to know all of them to understand one, and their order of evaluation depends on the entry',
    find: cyclicImports('packages/*/src/**'),
  },
]
