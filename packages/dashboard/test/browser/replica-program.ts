import { start } from '@q/runner/start'

process.exit(await start())
