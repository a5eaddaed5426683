/**
 * `pnpm chaos:workflow`: executes workflows of every kind on two replicas, one of which is killed repeatedly.
 *
 * Every step must begin after its parents, and once more than its holder died. Every workflow must end according to its
 * policy. The repair, called continuously, must find nothing to do. `--width`, `--every` (ms between kills).
 */
import { scriptOptions } from '@q/schema/script-options'
import { setTimeout as sleep } from 'node:timers/promises'
import { tasksOfPlan } from '@q/schema/workflow'
import { connect, createStore, type StepTask, type WorkflowId } from '@q/store'
import { testDatabase } from '@q/testing'
import { startReplica } from './processes.ts'
import { beganTooEarly, startedTooOften } from './workflow-observations.ts'
import { cases, type Case } from './workflow-plans.ts'

const values = scriptOptions('chaos:workflow', {
  width: { number: 10_000, least: 1, means: 'runs of the widest step' },
  every: { number: 4_000, least: 1, means: 'milliseconds between two kills' },
})

const database = await testDatabase()
const { db, close } = connect(database.url, { purpose: 'pool' })
const store = createStore(db)
const env = { DATABASE_URL: database.url, Q_PRESET: 'fast', Q_THREADS: '4' }
const survivor = await startReplica(env)
let victim = await startReplica(env)
const over = new AbortController()
const problems: string[] = []
let kills = 0
try {
  const began = performance.now()
  const restless = Promise.all([killAgainAndAgain(), repairAllTheTime()])
  const started: { id: WorkflowId; one: Case }[] = []
  for (const one of cases(values.width)) started.push({ id: await start(one), one })
  // Stops everything, whichever fails first.
  await Promise.race([Promise.all(started.map(({ id, one }) => watch(id, one, began))), restless])
  over.abort()
  await restless
  problems.push(...(await beganTooEarly(db)), ...(await startedTooOften(db)))
} finally {
  over.abort()
  for (const replica of [survivor, victim]) replica.kill('SIGKILL')
  await Promise.all([survivor, victim].map((replica) => replica.exited))
  await close()
  await database.drop()
}
for (const problem of problems) console.log(`WRONG: ${problem}`)
console.log(`${kills} kills, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1

async function start({ plan }: Case): Promise<WorkflowId> {
  const tasks: Record<string, StepTask> = {}
  for (const task of tasksOfPlan(plan.steps)) {
    tasks[task] = { lane: await store.internLane({ queue: 'default', task }), onCrash: 'retry' }
  }
  const { id } = await store.startWorkflow({ plan, input: null, tasks })
  await store.wakeQueue('default')
  return id
}

async function watch(id: WorkflowId, { plan, ends, steps, paused = false }: Case, began: number): Promise<void> {
  if (paused) {
    await store.pauseWorkflow(id, 'chaos')
    await sleep(3_000)
    await store.resumeWorkflow(id)
  }
  for (;;) {
    const [workflow] = await store.getWorkflows([id])
    if (workflow === undefined) throw new Error(`The workflow "${plan.name}" is gone.`)
    if (workflow.status === 'PAUSED') await store.resumeWorkflow(id)
    if (workflow.finishedAt !== null) {
      const seconds = ((performance.now() - began) / 1_000).toFixed(1)
      console.log(
        `${plan.name.padEnd(32)} ${workflow.status.padEnd(10)} ${seconds.padStart(7)} s  ${JSON.stringify(workflow.steps)}`,
      )
      if (workflow.status !== ends) problems.push(`"${plan.name}" ended ${workflow.status}, not ${ends}`)
      for (const [status, count] of Object.entries(steps)) {
        const seen = Reflect.get(workflow.steps, status) as unknown
        if (seen !== count) problems.push(`"${plan.name}" has ${String(seen)} steps ${status}, not ${count}`)
      }
      return
    }
    await sleep(100)
  }
}

async function killAgainAndAgain(): Promise<void> {
  while (!over.signal.aborted) {
    await sleep(values.every, undefined, { signal: over.signal }).catch(() => {})
    if (over.signal.aborted) return
    victim.kill('SIGKILL')
    await victim.exited
    kills++
    victim = await startReplica(env)
  }
}

async function repairAllTheTime(): Promise<void> {
  while (!over.signal.aborted) {
    const { repaired } = await store.repairWorkflows({ limit: 100 })
    problems.push(
      ...repaired.map(({ kind: fault, workflowId }) => `the repair found ${fault} in workflow ${workflowId}`),
    )
    await sleep(500)
  }
}
