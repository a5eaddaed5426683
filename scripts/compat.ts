/**
 * The real previous release beside the present one, on one database: `pnpm compat`.
 *
 * A replica of the previous release runs while the present program migrates. Either the previous release then keeps working, or the
 * database declares it too old (`q.compatibility`) and its programs are refused. Needs the git history and the npm registry.
 */
import { programLevel } from '@q/schema'
import { scriptOptions } from '@q/schema/script-options'
import { connect, createStore } from '@q/store'
import { testDatabase } from '@q/testing'
import { checkOut } from './compat/check-out.ts'
import { programIn, type ProgramEnd, type Replica } from './compat/program.ts'
import { workspace } from './workspace.ts'

/** The last commit of the previous release, and the number of the newest migration it knows. A release replaces both. */
const previous = { commit: '149ef1b006d9cd7a790fd73452f97b18bfda0fff', level: 7 }
const tooOld = 57
const hello = ['enqueue', 'hello', '{"name":"Ada"}', '--wait', '--timeout', '30s']

scriptOptions('compat', {})
console.log(`checking out and installing ${previous.commit.slice(0, 7)}`)
await using checkedOut = await checkOut(previous.commit)
await using database = await testDatabase({ migrated: false })
const env = { DATABASE_URL: database.url, Q_PRESET: 'fast', Q_THREADS: '1' }
const before = programIn(checkedOut.folder, env)
const present = programIn(workspace, env)
const connection = connect(database.url, { purpose: 'pool' })
const store = createStore(connection.db)
const replicas: Replica[] = []
try {
  await compare()
} finally {
  for (const replica of replicas) replica.kill('SIGKILL')
  await Promise.all(replicas.map(({ ended }) => ended))
  await connection.close()
}

async function compare(): Promise<void> {
  const old = await started('the previous release starts on an empty database', before.start())
  expectCode('its replica executes a run that it enqueues', 0, await before.q(...hello))
  expectCode('the present q migrate refuses beside it', 2, await present.q('migrate'))
  expectCode('q migrate --yes migrates', 0, await present.q('migrate', '--yes'))
  const { oldest_program: oldest } = await connection.db
    .selectFrom('q.compatibility')
    .selectAll()
    .executeTakeFirstOrThrow()
  const works = oldest <= previous.level
  console.log(`declared: level ${oldest} and newer; previous is ${previous.level}, present is ${await programLevel()}`)
  await (works ? worksBeside(old) : isRefused(old))
}

async function worksBeside(old: Replica): Promise<void> {
  expectCode('the replica that was running executes a run of the present release', 0, await present.q(...hello))
  expectCode('the previous release still enqueues', 0, await before.q(...hello))
  const young = await started('a present replica starts beside it', present.start())
  expectEqual('the drain of the previous replica cannot be undone', 'leaving', await drainAndUndo(old.id))
  expectCode('it drains by order', 0, await old.ended)
  await worksAlone(young)
  await started('another previous replica starts', before.start())
}

async function isRefused(old: Replica): Promise<void> {
  expectCode('the replica that was running drains', 0, await old.ended)
  expectCode('the q command of the previous release is refused', tooOld, await before.q(...hello))
  expectCode('its replica is refused', tooOld, await endOf(before.start()))
  await worksAlone(await started('a present replica starts', present.start()))
}

async function worksAlone(young: Replica): Promise<void> {
  expectCode('the present replica executes a run', 0, await present.q(...hello))
  young.kill('SIGTERM')
  expectCode('it leaves on SIGTERM', 0, await young.ended)
}

async function drainAndUndo(replicaId: string): Promise<string> {
  await store.drainReplica(replicaId, { by: 'compat' })
  return store.undrainReplica(replicaId)
}

async function started(title: string, start: Promise<Replica | ProgramEnd>): Promise<Replica> {
  const replica = await start
  if ('output' in replica) throw new Error(`FAILED  ${title}: it ended with ${replica.code}\n${replica.output}`)
  replicas.push(replica)
  console.log(`ok      ${title}`)
  return replica
}

async function endOf(start: Promise<Replica | ProgramEnd>): Promise<ProgramEnd> {
  const replica = await start
  if ('output' in replica) return replica
  replicas.push(replica)
  return { code: null, output: 'It started.' }
}

function expectCode(title: string, wanted: number, { code, output }: ProgramEnd): void {
  if (code !== wanted) console.log(output)
  expectEqual(title, wanted, code)
}

function expectEqual(title: string, wanted: unknown, got: unknown): void {
  console.log(
    `${wanted === got ? 'ok    ' : 'FAILED'}  ${title}${wanted === got ? '' : `: ${String(got)}, not ${String(wanted)}`}`,
  )
  if (wanted !== got) process.exitCode = 1
}
