/**
 * Everything in the repository that follows from something else, made again: `pnpm codegen`.
 * `pnpm codegen --verify` changes nothing, names what differs and exits 1.
 *
 * The database that is looked at is built from the migrations for this purpose and thrown away.
 */
import { readdir, readFile, rm, writeFile, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { scriptOptions } from '@q/schema/script-options'
import { testDatabase } from '@q/testing'
import { clientReference } from './codegen/client-reference.ts'
import { configurationReference } from './codegen/configuration-reference.ts'
import { failureBounds } from './codegen/failure-bounds.ts'
import { httpReference } from './codegen/http-reference.ts'
import { kyselyTypes } from './codegen/kysely-types.ts'
import { metricsReference } from './codegen/metrics-reference.ts'
import { monitoringFiles } from './codegen/monitoring/monitoring-files.ts'
import { shortDiff } from './codegen/short-diff.ts'
import { schemaFile } from './codegen/schema-file.ts'
import { schemaObjectsFile } from './codegen/schema-objects-file.ts'
import { statesReference } from './codegen/states-reference.ts'
import { statementFiles } from './codegen/statement-files.ts'
import { storeReference } from './codegen/store-reference.ts'
import { workspace } from './workspace.ts'

/** In these folders a file that is not generated has no business. */
const whollyGenerated = ['packages/store/sql', 'packages/schema/src/generated', 'docs/deploy/generated']

const { verify } = scriptOptions('codegen', {
  verify: { flag: true, means: 'write nothing; exit 1 if a file differs' },
})
const wanted = await generated()
const present = await onDisk([...wanted.keys()])
const differing = [...new Set([...wanted.keys(), ...present.keys()])]
  .filter((path) => wanted.get(path) !== present.get(path))
  .toSorted()
for (const path of differing) await (verify ? report(path) : bring(path))
if (differing.length === 0) console.log(`${wanted.size} generated files are current`)
else if (verify) {
  console.log('Run: pnpm codegen')
  process.exitCode = 1
}

async function generated(): Promise<Map<string, string>> {
  await using database = await testDatabase()
  return new Map([
    ['packages/schema/src/generated/db.ts', await kyselyTypes(database.url)],
    ['packages/schema/src/generated/objects.ts', await schemaObjectsFile(database.url)],
    ['db/schema.sql', await schemaFile(database.url)],
    ...statementFiles(),
    await storeReference(),
    await clientReference(),
    await configurationReference(),
    await failureBounds(),
    await httpReference(),
    await metricsReference(),
    ...(await monitoringFiles()),
    await statesReference(),
  ])
}

async function onDisk(expected: readonly string[]): Promise<Map<string, string>> {
  const strays = await Promise.all(
    whollyGenerated.map(async (folder) => {
      const names = await readdir(join(workspace, folder)).catch(() => [])
      return names.map((name) => `${folder}/${name}`)
    }),
  )
  const files = new Map<string, string>()
  for (const path of new Set([...expected, ...strays.flat()])) {
    const text = await readFile(join(workspace, path), 'utf8').catch(() => undefined)
    if (text !== undefined) files.set(path, text)
  }
  return files
}

async function bring(path: string): Promise<void> {
  const text = wanted.get(path)
  console.log(text === undefined ? `removed ${path}` : `wrote ${path}`)
  if (text === undefined) return rm(join(workspace, path))
  await mkdir(dirname(join(workspace, path)), { recursive: true })
  await writeFile(join(workspace, path), text)
}

function report(path: string): void {
  const [now, then] = [present.get(path), wanted.get(path)]
  if (now === undefined) console.log(`${path} is missing`)
  else if (then === undefined) console.log(`${path} would no longer be generated`)
  else console.log(`${path} differs\n${shortDiff(now, then)}`)
}
