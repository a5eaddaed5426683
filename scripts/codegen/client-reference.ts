/** docs/reference/client.md: the verbs of a queue with their contracts, from the comments on its interface. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { workspace } from '../workspace.ts'
import { contractsOf } from './contracts.ts'

const preface = `# The client

Generated from \`packages/client/src/verbs.ts\` and \`workflow/verbs.ts\` by \`pnpm codegen\`; never edited.

\`\`\`ts
import { queue } from '@q/client'
import type * as tasks from './tasks.ts'

const q = queue<typeof tasks>(process.env.DATABASE_URL)
\`\`\`

Names, payloads and results have the types of the tasks. The program imports types only: it loads neither the code of the tasks nor
Piscina. Without a type argument, \`queue()\` accepts any name and any payload.

## The argument of queue()

| argument | how the client uses it |
|---|---|
| a URL | the client opens a pool of at most 4 connections, and one LISTEN session for ended runs; \`close()\` closes them |
| a \`Pool\` of \`pg\` | the client takes a connection of the pool for each statement, and opens the LISTEN session with the options of the pool. \`close()\` does not close the pool |
| a \`Client\` of \`pg\` | the client sends all statements on it. If a transaction is open on it, enqueued runs are part of the transaction. There is no LISTEN session: a wait polls once a second. \`close()\` does not close it |
| a \`Connection\` of \`@q/store\` | the client uses it; \`close()\` does not close it |

With \`{ tasks }\` as second argument, a producer that may load the code passes the definitions. The tasks' own validators then check payloads,
and the client does not read what replicas have published.

## Time limits and errors

| connection | limits |
|---|---|
| a URL | the server cancels a statement after 30 s, a wait for a lock after 24 s, and an idle open transaction after 31 s. A cancelled statement has written nothing and writes nothing later. Behind a pooler in transaction mode, the client sets the same limits in each transaction |
| a \`Pool\` or \`Client\` of \`pg\`, or \`tx\` | the limits of your own connection; q sets none. If you set \`query_timeout\`, also set a lower \`statement_timeout\`: \`query_timeout\` alone only stops waiting, and the server may still insert the run |

Errors of the database have \`code\`, \`message\`, \`why\` and \`fix\` ([errors](../errors.md)); the error of the driver is their \`cause\`. Inside
your own transaction (\`tx\`) a deadlock or serialization failure keeps its SQLSTATE, so that your code can retry the transaction.

A wait (\`result()\`, \`progress()\`) survives a broken connection, even one that breaks right after it opened: it polls once a second until the
database answers. With \`timeout\` it ends with \`WAIT_TIMED_OUT\`, which says whether the database answered.

## Validation of payloads

The client validates a payload before it writes the run, and the replica validates it again before the code starts. With definitions, the client uses the
task's own validator. Without definitions, it uses the JSON Schema that replicas have published for the task, if the validator provides one (zod and arktype
do, valibot does not); it does not check \`format\`, and a schema that cannot be compiled checks nothing. An invalid payload is rejected with
\`INVALID_PAYLOAD\` and a JSON pointer for each place. q accepts a run of a task that no replica has published yet; the run waits for the publication, so
you can deploy producers first ([enqueue before publication](../explanation/enqueue-before-publication.md)).

## Options of a run

| option | meaning |
|---|---|
| \`tx\` | your own transaction: its commit creates the run, a rollback removes it. A transaction of pg, Kysely, Drizzle, postgres.js, Knex or Prisma ([how](../how-to/your-own-transaction.md)) |
| \`delay\` | the time before the run may start, by the database's clock |
| \`runAt\` | the \`Date\` before which the run does not start; a past date (by the clock of the producer) starts it at once. Runs with equal times start in the order of their enqueues |
| \`priority\` | a lower number comes first; default: the task's |
| \`group\` | runs of a group share its queue fairly with other groups |
| \`expires\` | the time from now after which a run that has not started ends EXPIRED; default: the task's |
| \`throttle\`, \`debounce\` | replaces the task's option: the first, or the last, enqueue in a window counts ([details](../how-to/debounce-and-throttle.md)) |
| \`idempotencyKey\` | requests with the same key return the same run for 24 hours, so that a request whose answer was lost can be repeated. It replaces \`unique\`, \`throttle\` and \`debounce\` of the task |
| \`trace\` | the W3C \`traceparent\` whose trace the run continues; default: a span of this enqueue, if an OpenTelemetry SDK is registered |

## Handles

| member | meaning |
|---|---|
| \`id\`, \`duplicate\` | the id of the run; whether the run already existed, by its unique key |
| \`result({ timeout, signal })\` | the result of the task. Throws \`RunFailed\` if the run ended otherwise, with \`code\`, \`attempts\`, \`remoteStack\` and the \`cause\` of the task's error (bounded, with the errors of an \`AggregateError\`); throws \`WAIT_TIMED_OUT\` if the run has not ended in time |
| \`status()\` | the current state of the run |
| \`progress({ signal })\` | an async iterator that yields state, attempt and progress when one of them changes; the last value is the final state |
| \`cancel()\` | the same as \`q.cancel(run)\` |

The handle of a workflow is described in [how to write workflows](../how-to/workflows.md#the-handle).

All waits of a process share one LISTEN session, and one poll for lost wakes. Thousands of waits that begin at once cost a few statements.

[Schedules](../how-to/cron.md) describes \`q.schedule\`, pause, resume and run now.

## Concurrent calls

If no statement is in flight, the client sends a call at once. Calls that arrive in the meantime share the next statement. An invalid call
fails alone. The client sends calls with \`tx\` in their transaction, and calls with a unique key, a throttle or a debounce separately,
because they may have to wait for another open transaction.
`

const files = ['verbs.ts', 'workflow/verbs.ts']

export async function clientReference(): Promise<[path: string, text: string]> {
  const sources = await Promise.all(files.map((file) => readFile(join(workspace, 'packages/client/src', file), 'utf8')))
  return ['docs/reference/client.md', `${preface}${sources.map(contractsOf).join('\n')}`]
}
