/** `pnpm --filter runner start` */
import { start } from './start.ts'

process.exit(await start())
