/** The job as tasks of q, one for each promise about a crash. */
import { task, type Task } from '@q/task'
import { executeJob, type Job } from './job.ts'

export const retriedJob: Task<Job, number> = task({ onCrash: 'retry' }, (job: Job) => executeJob(job))
export const failedJob: Task<Job, number> = task({ onCrash: 'fail' }, (job: Job) => executeJob(job))
