/**
 * `pnpm pack:all [folder]`: builds every public package and packs each into a tarball, for projects that use q before it is
 * in a registry. The default folder is `packed` in the workspace. Prints the command that installs the tarballs.
 */
import { mkdir } from 'node:fs/promises'
import { scriptOptions } from '@q/schema/script-options'
import { join, resolve } from 'node:path'
import { packAll } from './packed-consumer/pack.ts'
import { publicPackages } from './packed-consumer/public-packages.ts'
import { workspace } from './workspace.ts'

const args = process.argv.slice(2)
scriptOptions(
  'pack:all [folder]',
  {},
  args.filter((argument) => argument.startsWith('-')),
)
const [given] = args.filter((argument) => argument !== '--')
// pnpm runs scripts in the workspace; a folder on the command line is relative to the caller's.
const callersFolder = process.env['INIT_CWD'] ?? process.cwd()
const folder = given === undefined ? join(workspace, 'packed') : resolve(callersFolder, given)
await mkdir(folder, { recursive: true })
const tarballs = await packAll(await publicPackages(), folder)
console.log(`${tarballs.length} packages in ${folder}\n\nIn your project:\n\n  npm install ${folder}/*.tgz\n`)
