/** Faults in what the end of a step does to its workflow. */
import { storeTest, type Fault } from './fault.ts'

const src = (path: string) => `packages/store/src/workflows/${path}`
const release = src('release.ts')
const mapItems = src('map-items.ts')

export const workflowFaults: readonly Fault[] = [
  {
    name: 'dependents-forgotten',
    why: 'A step whose parents have ended waits forever.',
    caughtBy: [storeTest('dependents')],
    edits: [
      {
        file: src('advance.ts'),
        find: 'releaseDependents(trx, ended, wakes)',
        replace: 'releaseDependents(trx, [], wakes)',
      },
    ],
  },
  {
    name: 'failed-parent-released-its-child',
    why: 'A step runs although what it needs has failed.',
    caughtBy: [storeTest('dependents')],
    edits: [
      {
        file: release,
        find: 'WHEN s.allows_failed THEN parents.ended ELSE parents.succeeded END',
        replace: 'ELSE parents.ended END',
      },
    ],
  },
  {
    name: 'late-parent-counted-as-an-item',
    why: 'A map ends before its last item has.',
    caughtBy: [storeTest('workflow-maps')],
    edits: [
      {
        file: release,
        find: 'count(*) FILTER (WHERE own.item_of = e.child_id) AS items',
        replace: 'count(*) AS items',
      },
      // What a map finds when it is about to end would hold it back again.
      { file: mapItems, find: '  if (open > 0) return waitAgain(trx, step.id, open)\n', replace: '' },
    ],
  },
  {
    name: 'settled-without-the-workflow',
    why: 'A step leaves while another transaction has its workflow locked; one holds the run, the other the workflow: deadlock.',
    caughtBy: [storeTest('workflow-locks')],
    edits: [
      {
        file: src('lock.ts'),
        find: '    ORDER BY w.id FOR NO KEY UPDATE OF w`.execute(trx)',
        replace: '    ORDER BY w.id`.execute(trx)',
      },
    ],
  },
  {
    name: 'errors-ignored',
    why: 'A workflow goes on after a step has failed for good.',
    caughtBy: [storeTest('workflow-policies'), storeTest('workflow-retries')],
    edits: [{ file: src('policy.ts'), find: 'if (bad.length + skipped.length === 0) return []', replace: 'return []' }],
  },
  {
    name: 'tolerated-errors-counted',
    why: 'A workflow fails for a step whose dependents do without it.',
    caughtBy: [storeTest('workflow-joins')],
    edits: [
      {
        file: src('step-error.ts'),
        find: 'WHERE e.parent_id = r.id)\n    OR EXISTS',
        replace: 'WHERE e.parent_id = r.id) OR true\n    OR EXISTS',
      },
    ],
  },
  {
    name: 'came-back-into-a-pause',
    why: 'A run that is released, retried or recovered is claimed again although its workflow is paused.',
    caughtBy: [storeTest('workflow-policies'), storeTest('workflow-retries')],
    edits: [
      {
        file: src('advance.ts'),
        find: 'const again = steps.filter((run) => !isTerminal(run.status))',
        replace: 'const again = steps.filter(() => false)',
      },
    ],
  },
  {
    name: 'claims-kept-in-a-pause',
    why: 'A run that was claimed ahead is started in a paused workflow.',
    caughtBy: [storeTest('workflow-policies'), storeTest('workflow-retries')],
    edits: [
      {
        file: src('hold-steps.ts'),
        find: "transitionSteps(trx, ['CLAIMED'], claimed, wakes)",
        replace: 'transitionSteps(trx, [], claimed, wakes)',
      },
    ],
  },
  {
    name: 'retried-without-recount',
    why: 'The end of a step that was retried is counted twice.',
    caughtBy: [storeTest('workflow-policies'), storeTest('workflow-retries')],
    edits: [
      {
        file: src('recount.ts'),
        find: 'FROM accounts WHERE r.id = accounts.id AND accounts.waiting_on <> accounts.stored_on',
        replace: 'FROM accounts WHERE r.id = accounts.id AND accounts.waiting_on < accounts.stored_on',
      },
    ],
  },
  {
    name: 'sub-workflow-alone',
    why: 'A sub-workflow step waits forever after its workflow has ended.',
    caughtBy: [storeTest('sub-workflow')],
    edits: [
      {
        file: src('end.ts'),
        find: 'return parent === null ? [] : [{ id: parent, goal: status, result }]',
        replace: 'return []',
      },
    ],
  },
  {
    name: 'undone-in-order',
    why: 'The last step is compensated last.',
    caughtBy: [storeTest('compensation')],
    edits: [
      {
        file: src('compensate.ts'),
        find: 'ORDER BY r.finished_at DESC, r.id DESC',
        replace: 'ORDER BY r.finished_at, r.id',
      },
    ],
  },
  {
    name: 'items-without-bound',
    why: 'A map lets more items go than it may.',
    caughtBy: [storeTest('workflow-maps')],
    edits: [
      {
        file: src('map-items.ts'),
        find: 'LIMIT greatest(0, capacity.room)',
        replace: 'LIMIT greatest(0, capacity.room + 1)',
      },
    ],
  },
]
