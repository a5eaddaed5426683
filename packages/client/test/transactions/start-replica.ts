/** A real replica that executes the tasks of ../tasks.ts. */
import { readConfig, startRunner } from '@q/runner'

export async function startReplica(databaseUrl: string): Promise<{ leave(): Promise<void> }> {
  const runner = await startRunner({
    databaseUrl,
    config: readConfig({ Q_THREADS: '2' }),
    version: '0.0.0',
    taskModules: [new URL('../tasks.ts', import.meta.url).href],
    observe: () => {},
  })
  // The second call sets the deadline to now.
  return { leave: () => Promise.race([runner.drain(), runner.drain()]) }
}
