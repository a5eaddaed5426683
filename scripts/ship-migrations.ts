/**
 * Puts the migrations where the compiled @q/schema looks for them: beside its code, and the script of the roles too. In the repository a link does the
 * same for the sources; a package cannot carry a link. What is no longer in db/migrations is not shipped either.
 */
import { copyFile, cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { scriptOptions } from '../packages/schema/src/script-options.ts'
import { workspace } from './workspace.ts'

scriptOptions('ship-migrations', {})
const shipped = join(workspace, 'packages/schema/dist/migrations')
await rm(shipped, { recursive: true, force: true })
await cp(join(workspace, 'db/migrations'), shipped, {
  recursive: true,
  filter: (path) => path.endsWith('.sql') || path.endsWith('migrations'),
})
await copyFile(join(workspace, 'db/roles.sql'), join(workspace, 'packages/schema/dist/roles.sql'))
