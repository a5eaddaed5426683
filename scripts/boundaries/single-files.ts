/** Libraries and abilities that only named files may use, so that a replacement changes only those files. */
import { dependency, importing, writing } from './finds.ts'
import type { Rule } from './rule.ts'

export const singleFiles: readonly Rule[] = [
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
    reason: 'replacing the thread pool changes one file',
    find: importing(/^piscina$/, {
      in: 'packages/*/src/**',
      but: { 'packages/runner/src/main/executors/thread-pool.ts': 'is that file' },
    }),
  },
  {
    rule: 'pino is imported in one observer',
    reason: 'one file decides the wording and format of log lines',
    find: importing(/^pino(-.*)?$/, {
      in: 'packages/*/src/**',
      but: { 'packages/runner/src/observers/log.ts': 'is that observer' },
    }),
  },
  {
    rule: 'the Prometheus client is imported in one file',
    reason: 'counting does not depend on the format, and only a scrape loads the client',
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
    reason: 'one file decides and tests what a pattern means, including at clock changes',
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
]
