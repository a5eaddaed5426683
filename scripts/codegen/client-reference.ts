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

Names, payloads and results have the types of the tasks. The import is of types only: neither the code of the tasks nor
Piscina is loaded. Without a type argument any name and any payload is accepted.

## What queue() is given

| argument | what is done with it |
|---|---|
| a URL | a pool of at most 4 connections, and one session that hears of ended runs; closed by \`close()\` |
| a \`Pool\` of \`pg\` | its clients are used for each statement; its options also open the one session that hears of ended runs. The pool stays yours |
| a \`Client\` of \`pg\` | it is used for everything, and stays yours. If you have a transaction open on it, what is enqueued is part of it. There is no session that hears of ended runs: who waits finds them by looking once a second |
| a \`Connection\` of \`@q/store\` | it is used, and stays open |

\`{ tasks }\` as second argument: the definitions themselves, for a producer that may load their code. Payloads are then checked by
their own validators, and what replicas have published is not asked for.

## Time limits and errors

| with | limits |
|---|---|
| a URL | the server cancels a statement after 30 s, a wait for a lock after 24 s, and an idle open transaction after 31 s. A statement that it cancelled has written nothing and writes nothing later. Behind a pooler that lends connections per transaction the same limits are set in each transaction |
| a \`Pool\` or \`Client\` of \`pg\`, or \`tx\` | those of your own connection; q sets none. If you set \`query_timeout\`, set a lower \`statement_timeout\` beside it: \`query_timeout\` alone only stops waiting, and the server may still insert the run |

Errors of the database have \`code\`, \`message\`, \`why\` and \`fix\` ([all of them](../errors.md)); the error of the driver is their \`cause\`. Inside
your own transaction (\`tx\`) a deadlock or serialization failure keeps its SQLSTATE, so that your code can retry the transaction.

A wait (\`result()\`, \`progress()\`) survives a broken connection, even one that breaks right after it opened: it looks again once a second until the
database answers. With \`timeout\` it ends with \`WAIT_TIMED_OUT\`, which says whether the database answered.

## How a payload is checked

Before anything is written, and again by the replica before the code runs. With definitions: by the task's own validator.
Without: by the JSON Schema that replicas have published for the task, if its validator gives one (zod and arktype do, valibot does not); \`format\` is
not judged, and a schema that cannot be compiled checks nothing. An invalid payload is refused with \`INVALID_PAYLOAD\` and a JSON
pointer for each place. A run of a task that no
replica has published yet is accepted and waits for the publication: producers may be deployed first
([enqueue before publication](../explanation/enqueue-before-publication.md)).

## Options of a run

| option | what it says |
|---|---|
| \`tx\` | your own transaction: the run is there with its commit, a rollback leaves nothing. Of pg, Kysely, Drizzle, postgres.js, Knex or Prisma ([how](../how-to/your-own-transaction.md)) |
| \`delay\` | not before this much time has passed, by the database's clock |
| \`runAt\` | not before this \`Date\`; at once if it has passed by the clock of the producer. Runs with equal times start in the order of their enqueues |
| \`priority\` | lower numbers first; default: the task's |
| \`group\` | runs of a group share its queue fairly with other groups |
| \`expires\` | not started by then, counted from now: EXPIRED; default: the task's |
| \`throttle\`, \`debounce\` | instead of what the task says: the first, or the last, enqueue in a window counts ([which one counts](../how-to/debounce-and-throttle.md)) |

## Handles

| member | what it is |
|---|---|
| \`id\`, \`duplicate\` | the run; and whether it was there already, by its unique key |
| \`result({ timeout, signal })\` | what the task returned; throws \`RunFailed\` with \`code\`, \`attempts\`, \`remoteStack\` and, where the error of the task had one, \`cause\` (bounded, with the errors of an \`AggregateError\`) if it ended otherwise, \`WAIT_TIMED_OUT\` if it has not ended in time |
| \`status()\` | the run as it is now |
| \`progress({ signal })\` | an async iterator of state, attempt and progress, whenever one of them changed; the last value is the final state |
| \`cancel()\` | as \`q.cancel(run)\` |

That of a workflow is in [how to write workflows](../how-to/workflows.md#the-handle).

Everybody in a process who waits shares one LISTEN session, and one poll behind it for wakes that are lost. Thousands who begin
to wait at once cost a few statements.

Schedules (\`q.schedule\`, pause, resume, run now): [how](../how-to/cron.md).

## Calls at the same time

If no statement is in flight, a call is sent at once. Calls that arrive in the meantime share the next statement. A call that is
refused fails alone. Calls with \`tx\` are sent in their transaction; calls with a unique key, a throttle or a debounce go by themselves,
because they may have to wait for another open transaction.
`

const files = ['verbs.ts', 'workflow/verbs.ts']

export async function clientReference(): Promise<[path: string, text: string]> {
  const sources = await Promise.all(files.map((file) => readFile(join(workspace, 'packages/client/src', file), 'utf8')))
  return ['docs/reference/client.md', `${preface}${sources.map(contractsOf).join('\n')}`]
}
