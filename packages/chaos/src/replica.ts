/** A replica in a separate process. */
import { start } from '@q/runner/start'

process.exit(await start())
