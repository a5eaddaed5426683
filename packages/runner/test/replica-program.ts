/** A replica in a process of its own, for tests in which it dies: module, queue, database URL. Says when it is ready. */
import { readConfig, startRunner } from '@q/runner'
import { moduleUrl } from './module-url.ts'

const [module = '', queueName = '', databaseUrl = ''] = process.argv.slice(2)
await startRunner({
  databaseUrl,
  config: readConfig({
    Q_THREADS: '1',
    Q_PRESET: 'fast',
    Q_POLL_MS: '100',
    Q_QUEUES: queueName,
    Q_THREAD_MEMORY_MB: '128',
  }),
  version: '0.0.0',
  taskModules: [moduleUrl(module)],
  observe: () => {},
})
process.send?.('ready')
process.on('disconnect', () => process.exit())
