/** Measures the cost of a wide workflow, from its start to its end. */
import { connect } from '@q/store'
import { runWorkflows, workflowStages } from '../workflows/run-workflows.ts'
import { qRetry } from './entrants.ts'
import type { Measurement } from './measurement.ts'

const batch = 200

export const workflowTime: Measurement = {
  name: 'workflow',
  title: 'Wide workflows',
  method: `One step that releases 10 000 others, and one that waits for all of them; the same as a map; a first step that fails. Steps are claimed
and settled ${batch} at a time, without code to execute.`,
  entrants: [qRetry],
  figures: workflowStages.map((stage) => ({ key: stage, title: `${stage}, ms`, better: 'less' })),
  once: true,
  long: true,
  async sample({ server, sizes }, { contender }) {
    await using database = await server.database(contender)
    const connection = connect(database.url, { purpose: 'pool', quiet: true })
    try {
      return await runWorkflows(connection, sizes.workflowWidth, batch)
    } finally {
      await connection.close()
    }
  },
}
