/** docs/reference/store.md: the verbs of the store with their contracts, from the comments on its interface. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { workspace } from '../workspace.ts'
import { contractsOf } from './contracts.ts'

const preface = `# The verbs of \`@q/store\`

Generated from \`packages/store/src/verbs/\` by \`pnpm codegen\`; never edited.

\`createStore(db)\` binds them to a Kysely instance. Each is also exported as a function that takes a \`Kysely\` or a
\`Transaction\` first, so it can be part of your own transaction: \`enqueueTaskRuns(trx, runs)\`. With a client of \`pg\` on
which you began one: \`enqueueTaskRuns(usingPg(client), runs)\`. A batched verb is one statement, with the fence of each row
checked and an answer for each.

Beside them, for programs that execute runs: \`connect(url, { purpose: 'exchange' })\` a connection whose statements are prepared,
\`createClaimer(options)\` a replica's memory of what is ready and whom it served, and \`exchangeWork(connection, claimer, exchange)\`:
finish, start and claim in one round trip.
`

export async function storeReference(): Promise<[path: string, text: string]> {
  const files = [
    'runs',
    'schedules',
    'workflows',
    'liveness',
    'replicas',
    'operate',
    'destinations',
    'reads',
    'queue-reads',
    'node-reads',
    'overview-reads',
    'doctor',
  ].map((name) => join(workspace, 'packages/store/src/verbs', `${name}.ts`))
  const sources = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  return ['docs/reference/store.md', `${preface}${sources.map(contractsOf).join('\n')}`]
}
