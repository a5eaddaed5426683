/** What one sign of life costs the code that gives it. */
import { signNames } from '../signs/heartbeat-task.ts'
import { measureSigns } from '../signs/measure-signs.ts'
import { qRetry } from './entrants.ts'
import type { Measurement } from './measurement.ts'

export const signs: Measurement = {
  name: 'signs',
  title: 'Signs of life',
  method: 'The time of one call in the code of a task, on a worker thread.',
  entrants: [qRetry],
  figures: signNames.map((name) => ({ key: name, title: `\`${name}\`, ns`, better: 'less' })),
  once: true,
  async sample({ server, sizes }, { contender }) {
    await using database = await server.database(contender)
    return await measureSigns(database.url, sizes.signCalls)
  },
}
