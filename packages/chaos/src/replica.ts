/** A replica in a separate process, which ends with the scenario that started it, however that one ends. */
import { start } from '@q/runner/start'

const scenario = process.ppid
setInterval(() => {
  if (process.ppid !== scenario) process.exit(1)
}, 1_000).unref()

process.exit(await start())
