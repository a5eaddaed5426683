/** The contenders with their variants. */
import { availableParallelism } from 'node:os'
import { bullmqPostgres, bullmqRedis } from '../contenders/bullmq.ts'
import type { Contender } from '../contenders/contender.ts'
import { graphileDefault, graphileTuned } from '../contenders/graphile-worker.ts'
import { pgBoss } from '../contenders/pg-boss.ts'
import { plainThreads } from '../contenders/plain-threads.ts'
import { q } from '../contenders/q.ts'
import type { Entrant } from './measurement.ts'

export const cores: number = availableParallelism()

const tunedPeers: readonly Contender[] = [graphileTuned, pgBoss, bullmqPostgres, bullmqRedis]

export const qRetry: Entrant = { label: 'q', contender: q, processes: 1, onCrash: 'retry' }
export const qFail: Entrant = { label: "q, onCrash: 'fail'", contender: q, processes: 1, onCrash: 'fail' }
export const plain: Entrant = { label: `${cores} plain threads`, contender: plainThreads, processes: 1 }
export const peersOnce: readonly Entrant[] = tunedPeers.map((contender) => entrant(contender, 1))
export const peersPerCore: readonly Entrant[] = tunedPeers.map((contender) => entrant(contender, cores))
/** Peers that keep their jobs in PostgreSQL: goals of latency and enqueue are about these. */
export const postgresPeersOnce: readonly Entrant[] = peersOnce.filter(({ contender }) => contender.postgres)
export const graphileAsItComes: Entrant = entrant(graphileDefault, 1)

function entrant(contender: Contender, processes: number): Entrant {
  return { contender, processes, label: processes === 1 ? contender.name : `${contender.name}, ${processes} processes` }
}
