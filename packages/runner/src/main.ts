/** `pnpm --filter runner start` */
import { loadModules } from './startup/load-modules.ts'

const { start } = await loadModules(() => import('./startup/start.ts'))
process.exit(await start())
