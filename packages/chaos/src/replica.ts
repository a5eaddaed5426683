/** A replica as a process of its own. */
import { start } from '@q/runner/start'

process.exit(await start())
