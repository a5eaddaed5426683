import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the clone. A path, not a URL: it may contain spaces. */
export const workspace: string = dirname(dirname(fileURLToPath(import.meta.url)))
