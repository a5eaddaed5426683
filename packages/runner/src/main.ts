/** `pnpm --filter runner start` */
import { start } from './startup/start.ts'

process.exit(await start())
