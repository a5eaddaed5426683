/**
 * docs/reference/poison.md is the specification here: each of its rows is tried out, on a thread and in a process.
 * On a thread some poisons end the whole replica, so there each has a replica of its own, and a second one recovers.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isTerminal } from '@q/schema'
import type { RunId, Store } from '@q/store'
import { execution } from './execution.ts'
import { eventually } from './fixture.ts'
import type * as tasks from './tasks/poison.ts'

const table = readFileSync(new URL('../../../docs/reference/poison.md', import.meta.url), 'utf8')
const rows = [...table.matchAll(/^\| `(\w+)` \|[^|]*\| ([^|]+) \| ([^|]+) \|$/gm)].map(
  ([, poison = '', onThread = '', inProcess = '']) => ({
    poison,
    onThread: endsOf(onThread),
    inProcess: endsOf(inProcess),
  }),
)

/** `A or B, and the replica dies`: each way in which it may end. */
function endsOf(cell: string): string[] {
  return cell.split(' or ').map((end) => end.trim().replaceAll('`', ''))
}

test('the table is read', () => {
  expect(rows.length).toBeGreaterThan(15)
})

describe('in a process', () => {
  test('every poison ends its own run and no other', { timeout: 180_000 }, async () => {
    const { q, store, events } = await execution<typeof tasks>('poison', { threads: 2 })
    const seen: Record<string, string> = {}
    for (const { poison } of rows) {
      const run = await q.enqueue('inProcess', { poison })
      await ended(store, run.id)
      seen[poison] = await endOf(store, run.id)
      expect(await (await q.enqueue('alive', {})).result({ timeout: '100s' })).toBe('alive')
    }
    console.table(seen)
    expect(rows.filter(({ poison, inProcess }) => !inProcess.includes(seen[poison] ?? ''))).toEqual([])
    expect(events.filter(({ type }) => type === 'loop-failed' || type === 'run-unfinished')).toEqual([])
  })
})

describe('on a thread', () => {
  test('every poison ends its run, and the table says what else it ends', { timeout: 300_000 }, async () => {
    const witness = await execution<typeof tasks>('outcomes', { threads: 1 }) // knows none of them, and only recovers
    const seen: Record<string, string> = {}
    const left = rows.map(({ poison }) => poison)
    const oneAfterTheOther = async () => {
      for (let poison = left.pop(); poison !== undefined; poison = left.pop()) {
        seen[poison] = await poisonReplica(witness, poison)
      }
    }
    await Promise.all([oneAfterTheOther(), oneAfterTheOther(), oneAfterTheOther()])
    console.table(seen)
    expect(rows.filter(({ poison, onThread }) => !onThread.includes(seen[poison] ?? ''))).toEqual([])
  })
})

/** Its end, and whether its replica is still there. */
async function poisonReplica({ store, url }: { store: Store; url: string }, poison: string): Promise<string> {
  const replica = fork(new URL('./replica-program.ts', import.meta.url), ['poison', poison, url], {
    execArgv: ['--conditions=@q/source'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  onTestFinished(() => void replica.kill('SIGKILL'))
  await Promise.race([once(replica, 'message'), once(replica, 'exit')])
  const lane = await store.internLane({ queue: poison, task: 'onThread' })
  const [run] = await store.enqueueTaskRuns([{ task: 'onThread', lane, payload: { poison } }])
  await ended(store, run!.id)
  const next = await store.enqueueTaskRuns([
    { task: 'alive', lane: await store.internLane({ queue: poison, task: 'alive' }), payload: {} },
  ])
  const dies = once(replica, 'exit').then(() => 'dies')
  const survives = ended(store, next[0]!.id).then(() => 'survives')
  const replicaDies =
    replica.exitCode !== null || replica.signalCode !== null || (await Promise.race([dies, survives])) === 'dies'
  survives.catch(() => {})
  if (!replicaDies) replica.kill('SIGKILL')
  return `${await endOf(store, run!.id)}${replicaDies ? ', and the replica dies' : ''}`
}

function ended(store: Store, id: RunId): Promise<true> {
  return eventually(
    async () => {
      const [run] = await store.getTaskRuns([id])
      return run !== undefined && isTerminal(run.status) ? true : undefined
    },
    `the end of run ${id}`,
    60_000,
  )
}

async function endOf(store: Store, id: RunId): Promise<string> {
  const [run] = await store.getTaskRuns([id])
  return run?.status === 'SUCCEEDED' ? 'SUCCEEDED' : String(Reflect.get(Object(run?.result), 'code'))
}
