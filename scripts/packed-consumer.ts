/**
 * Are the packages, as npm users would get them, enough? Built from nothing, packed, installed from their tarballs into
 * an empty project outside of the workspace, judged, and used there by plain Node.
 */
import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scriptOptions } from '../packages/schema/src/script-options.ts'
import { documentFiles } from './packed-consumer/document-code.ts'
import { installPacked } from './packed-consumer/install.ts'
import { faultsOf } from './packed-consumer/judge.ts'
import { packAll } from './packed-consumer/pack.ts'
import { publicPackages } from './packed-consumer/public-packages.ts'
import { run } from './packed-consumer/run.ts'
import { workspace } from './workspace.ts'

scriptOptions('packed-consumer', {})
const packages = await publicPackages()
const folder = await mkdtemp(join(tmpdir(), 'q-consumer-'))
try {
  // As root the embedded server runs as another user, who has to be able to enter.
  await chmod(folder, 0o711)
  console.log(`building and packing ${packages.length} packages`)
  const tarballs = await packAll(packages, folder)
  console.log('installing them into an empty project')
  await installPacked(folder, tarballs, ['vitest'])
  const faults = (await Promise.all(packages.map((one) => faultsOf(one, folder)))).flat()
  for (const fault of faults) console.log(fault)
  await copyFile(join(workspace, 'scripts/packed-consumer/hello.mjs'), join(folder, 'hello.mjs'))
  await writeFiles('README.md')
  console.log('running the code of the README there')
  await run(process.execPath, ['hello.mjs'], folder, { Q_DATA_DIR: join(folder, 'data') })
  await writeFiles('docs/how-to/testing.md')
  console.log('running the tests of docs/how-to/testing.md there')
  // Vitest allows a test 5 s, which is not enough on a busy machine.
  await run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', '--testTimeout=60000'], folder)
  if (faults.length > 0) process.exitCode = 1
} catch (error) {
  console.log(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function writeFiles(document: string): Promise<void> {
  for (const [name, code] of await documentFiles(document)) await writeFile(join(folder, name), code)
}
