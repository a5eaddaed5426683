/** Group `work`: runs that cannot be executed, and items that need a person. */
import { plural } from '../words/counts.ts'
import { byAttention } from './by-attention.ts'
import { ok, type Check } from './check.ts'

const keys: Check = {
  id: 'work.keys',
  async look({ store }) {
    const stuck = (await store.contendedKeys({ limit: 100 })).filter(
      ({ holders, waiting }) => holders.length === 0 && waiting.count > 0,
    )
    const [first] = stuck
    if (first === undefined) return ok('Every contended concurrency key has a holder.')
    return {
      level: 'note',
      what: `${plural(stuck.length, 'concurrency key')} with waiting runs and no holder: ${stuck
        .slice(0, 5)
        .map(({ key }) => key)
        .join(', ')}.`,
      why: 'Their runs cannot start (paused queue, no node), or a replica promotes one with its next sweep.',
      fix: 'q doctor again in a minute; if it stays, q runs --view waiting, then q why <run>',
    }
  },
}

const workflows: Check = {
  id: 'work.workflows',
  async look({ store }) {
    const faults = await store.workflowFaults()
    const [first] = faults
    if (first === undefined) return ok('No live workflow is inconsistent.')
    return {
      level: 'fail',
      what: `Workflow ${first.workflowId} is inconsistent: ${first.kind}${faults.length > 1 ? `; ${faults.length - 1} more findings` : ''}.`,
      why: 'Rows were changed manually, or a backup was restored: steps may wait forever.',
      fix: 'q repair',
    }
  },
}

export const workChecks: readonly Check[] = [
  byAttention('work.lanes', ['lane-unserved'], 'Every ready run can be served by a live node.'),
  byAttention('work.paused', ['queue-paused'], 'No paused queue has a backlog.'),
  byAttention('work.backlog', ['queue-waits', 'queue-grows'], 'No queue waits longer than usual.'),
  byAttention('work.drains', ['drain-overdue'], 'No drain is overdue.'),
  byAttention('work.schedules', ['schedule-late'], 'No schedule is late.'),
  keys,
  workflows,
  byAttention('work.deliveries', ['deliveries-given-up'], 'No delivery was given up.'),
  byAttention('work.review', ['to-review'], 'No run needs a review.'),
]
