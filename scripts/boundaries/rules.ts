/**
 * THE rules of the house. Each has its reason; an exception stands in the rule, with its own.
 * A rule that cannot be kept is changed here, in the same commit and with a better reason.
 */
import {
  dependency,
  type Find,
  importing,
  loading,
  longerThan,
  named,
  outOfPackage,
  reaching,
  type Where,
  writing,
} from './finds.ts'
import { cyclicImports } from './import-cycles.ts'

export interface Rule {
  readonly rule: string
  readonly reason: string
  readonly find: Find
}

const timers = /\b(setTimeout|setInterval|setImmediate)\b/
const timerModules = /^(node:)?timers(\/promises)?$/

const timersOfTheRunner: Where = {
  in: 'packages/runner/src/**',
  but: {
    'packages/runner/src/main/loop.ts': 'the clock of every loop',
    'packages/runner/src/thread/run-slot.ts': 'a thread shows that it is alive between two signs of its task',
    'packages/runner/src/thread/serve.ts': 'a thread lets its event loop turn between two runs of a batch',
    'packages/runner/src/observers/successes.ts': 'the log sums up the successes of a second',
    'packages/runner/src/demo-tasks.ts': 'user code, in effect: its work is to wait',
  },
}

export const rules: readonly Rule[] = [
  // ---- the direction of dependencies
  ...Object.entries({
    schema: { may: [], because: 'the schema depends on no package that uses it' },
    store: { may: ['schema'], because: 'the store is below everybody who stores' },
    task: { may: [], because: 'a task is pure: client and runner both import it' },
    embedded: { may: [], because: 'embedded stands alone, so anybody can use it' },
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
    rule: 'packages meet at their names, not at their files',
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
    rule: 'what @q/runner exports does not reach embedded, server or client',
    reason: 'who embeds a runner brings a database, and does not install a second one',
    find: reaching(/^@q\/(embedded|client|server)$/, { from: 'packages/runner/src/index.ts' }),
  },
  {
    rule: '@q/testing enters the runner by its inline door only',
    reason: 'tests of users start no threads, and do not load what starts them',
    find: importing(/^@q\/runner(?!\/inline$)/, { in: 'packages/testing/src/**' }),
  },
  {
    rule: 'what @q/testing exports reaches neither Piscina nor pino nor Vitest',
    reason: 'it runs in anybody’s tests; Vitest is met at @q/testing/vitest alone',
    find: reaching(/^(piscina|pino|vitest)/, { from: 'packages/testing/src/index.ts' }),
  },
  {
    rule: 'what @q/runner/monitor exports reaches neither Piscina nor pino',
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
    reason: 'only plain data crosses the thread border: src/protocol',
    find: importing(/^packages\/runner\/src\/thread\//, { in: 'packages/runner/src/main/**' }),
  },
  {
    rule: 'thread and main of the runner never import each other',
    reason: 'only plain data crosses the thread border: src/protocol',
    find: importing(/^packages\/runner\/src\/main\//, { in: 'packages/runner/src/thread/**' }),
  },
  {
    rule: 'no files import each other in a circle',
    reason:
      'a reader would have to know all of them to understand one, and their order of evaluation depends on the entry',
    find: cyclicImports('packages/*/src/**'),
  },

  // ---- one door to each thing outside
  {
    rule: 'no kysely or pg for runner, server and cli',
    reason: 'they contain no SQL, and without the dependency pnpm itself refuses the import',
    find: dependency(['kysely', 'pg'], { of: ['runner', 'server', 'cli'] }),
  },
  {
    rule: 'connections are made in store/src/connection/db.ts',
    reason: 'limits and keepalive are set in one place',
    find: writing(/\bnew\s+(\w+\s*\.\s*)?(Pool|Kysely)\b/, {
      in: 'packages/*/src/**',
      but: {
        'packages/store/src/connection/db.ts': 'is that place',
        'packages/store/src/connection/caller-connection.ts': 'uses what the caller connected',
        'packages/store/src/connection/compile-only-db.ts': 'connects to nothing',
        'packages/examples/src/web-server/main.ts': 'is a program of a user, with a pool of its own',
      },
    }),
  },
  {
    rule: 'piscina is imported in one file',
    reason: 'another thread pool is then a change of one file',
    find: importing(/^piscina$/, {
      in: 'packages/*/src/**',
      but: { 'packages/runner/src/main/executors/thread-pool.ts': 'is that file' },
    }),
  },
  {
    rule: 'pino is imported in one observer',
    reason: 'how a line is worded and formatted is decided in one file',
    find: importing(/^pino(-.*)?$/, {
      in: 'packages/*/src/**',
      but: { 'packages/runner/src/observers/log.ts': 'is that observer' },
    }),
  },
  {
    rule: 'the Prometheus client is imported in one file',
    reason: 'what is counted does not depend on how it is written, and only a scrape loads the client',
    find: importing(/^@prometheus-io\/client$/, {
      in: 'packages/*/src/**',
      but: { 'packages/server/src/metrics/prometheus.ts': 'is that file' },
    }),
  },
  {
    rule: 'OpenTelemetry is imported in one file',
    reason: 'a program or thread without an SDK loads nothing of it: the API costs each thread 40 ms and 10 MB',
    find: importing(/^@opentelemetry\//, {
      in: 'packages/*/src/**',
      but: { 'packages/task/src/tracing/tracing.ts': 'is that file, and loads it when an SDK is registered' },
    }),
  },
  {
    rule: 'croner is imported in one file',
    reason: 'what a pattern means, also where clocks change, is decided and tested in one place',
    find: importing(/^croner$/, {
      in: 'packages/*/src/**',
      but: { 'packages/task/src/cron.ts': 'is that file' },
    }),
  },
  {
    rule: 'the runner loads destinations in one file',
    reason: 'a replica without destinations loads none of their code',
    find: importing(/^@q\/destinations$/, {
      in: 'packages/runner/src/**',
      but: { 'packages/runner/src/main/deliver/load-destinations.ts': 'is that file' },
    }),
  },
  {
    rule: 'the MCP client is imported in one file',
    reason: 'it is an optional peer: only a memory destination, once opened, may need it',
    find: importing(/^@modelcontextprotocol\//, {
      in: 'packages/*/src/**',
      but: { 'packages/destinations/src/memory/mcp.ts': 'is that file' },
    }),
  },

  {
    rule: 'Octokit is imported in one file',
    reason: 'which requests are repeated, and how long they may take, is decided in one place',
    find: importing(/^@octokit\//, {
      in: 'packages/*/src/**',
      but: { 'packages/destinations/src/github/api/octokit.ts': 'is that file' },
    }),
  },

  {
    rule: 'no markup from text on the page',
    reason: 'text of users is shown as text: with markup, a payload could run a script',
    find: writing(/\bdangerouslySetInnerHTML\b|\b(inner|outer)HTML\b|\binsertAdjacentHTML\b/, {
      in: 'packages/dashboard/src/**',
    }),
  },
  {
    rule: 'requests of the page are made in two files',
    reason: 'each carries the proof of the session and reports whether the database is away',
    find: writing(/\b(fetch|XMLHttpRequest|EventSource|WebSocket)\s*\(/, {
      in: 'packages/dashboard/src/**',
      but: {
        'packages/dashboard/src/api/request.ts': 'makes requests',
        'packages/dashboard/src/live/stream.ts': 'reads the stream',
      },
    }),
  },

  // ---- time and surroundings
  ...[writing(timers, timersOfTheRunner), importing(timerModules, timersOfTheRunner)].map((find) => ({
    rule: 'timers of the runner live in loop.ts and its kind',
    reason: 'a tick says when to come back; only then can a test call it without waiting',
    find,
  })),
  ...[writing(timers, { in: 'packages/store/src/**' }), importing(timerModules, { in: 'packages/store/src/**' })].map(
    (find) => ({
      rule: 'no timers in the store',
      reason: 'the store answers; when to ask is decided by its callers',
      find,
    }),
  ),
  {
    rule: 'no Date.now in the store',
    reason: 'time is the database’s: clocks of replicas differ',
    find: writing(/\bDate\s*\.\s*now\b|\bnew\s+Date\s*\(\s*\)/, { in: 'packages/store/src/**' }),
  },
  {
    rule: 'no process.env in the store',
    reason: 'configuration is read once, at the edge of a program',
    find: writing(/\bprocess\s*\.\s*env\b/, { in: 'packages/store/src/**' }),
  },
  {
    rule: 'no logger in the store',
    reason: 'the store returns what happened; observers tell it',
    find: writing(/\bconsole\s*\.|\b(?<!\.)(log|logger)\s*\.\s*(trace|debug|info|warn|error|fatal)\b/, {
      in: 'packages/store/src/**',
    }),
  },

  // ---- files
  {
    rule: 'no file with a name broad enough to take anything',
    reason: 'it will',
    find: named(/^(utils?|common|helpers?|managers?|services?|types|interfaces|constants|misc)$/),
  },
  {
    rule: 'no file over 300 lines',
    reason: 'a file has one job; generated files are exempt',
    find: longerThan(300),
  },
]
