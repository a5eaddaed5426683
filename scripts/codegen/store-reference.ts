/** docs/reference/store.md: the verbs of the store with their contracts, from the comments on its interface. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { workspace } from '../workspace.ts'
import { contractsOf } from './contracts.ts'

const preface = `# The verbs of \`@q/store\`

Generated from \`packages/store/src/verbs/\` by \`pnpm codegen\`; never edited.

\`createStore(db)\` binds the verbs to a Kysely instance. Each verb is also a function whose first argument is a \`Kysely\` or a
\`Transaction\`, so it can be part of your own transaction: \`enqueueTaskRuns(trx, runs)\`. For a client of \`pg\` on
which you began a transaction, write \`enqueueTaskRuns(usingPg(client), runs)\`. A batched verb is one statement, which checks the fence of
each row and returns an answer for each.

For programs that execute runs, the package also exports \`connect(url, { purpose: 'exchange' })\`, which opens a connection with prepared statements;
\`createClaimer(options)\`, which remembers the ready runs and the groups that a replica has served; and \`exchangeWork(connection, claimer, exchange)\`,
which does finish, start and claim in one round trip.
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
