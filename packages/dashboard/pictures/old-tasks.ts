/** A task that only the previous release knows: once its replica has left, no living one serves its runs. */
import { task } from '@q/task'

export const oldReport = task({ name: 'old-report', queue: 'legacy' }, () => 'done')
