/** All contenders. */
import { bullmqPostgres, bullmqRedis } from './bullmq.ts'
import type { Contender } from './contender.ts'
import { graphileDefault, graphileTuned } from './graphile-worker.ts'
import { pgBoss } from './pg-boss.ts'
import { plainThreads } from './plain-threads.ts'
import { q } from './q.ts'

export const contenders: readonly Contender[] = [
  q,
  graphileTuned,
  graphileDefault,
  pgBoss,
  bullmqPostgres,
  bullmqRedis,
  plainThreads,
]
