/** A document, played: its files in a folder, a database, a replica that knows its tasks, and what the reader does. */
import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { readConfig, startRunner, type Runner } from '@q/runner'
import { testDatabase } from '@q/testing'
import type { Document, Step } from './document.ts'

/** Within this package, where everything that documents import is found. */
export const stage = fileURLToPath(new URL('../dist/documents/', import.meta.url))

/** A module of tasks is called so. */
const taskModule = /(^|[./-])tasks\.ts$/

export async function setTheStage(name: string, { files }: Document): Promise<string> {
  const folder = join(stage, name)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  for (const [file, code] of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), code)
  }
  return folder
}

export interface Played {
  readonly step: Step
  readonly printed: string
}

export async function play(folder: string, { files, steps }: Document): Promise<Played[]> {
  await using database = await testDatabase()
  const modules = [...files.keys()].filter((file) => taskModule.test(file)).map((file) => join(folder, file))
  const replica = modules.length === 0 ? undefined : await replicaOf(modules, database.url)
  try {
    const played: Played[] = []
    for (const step of steps) played.push({ step, printed: await take(step, folder, database.url) })
    return played
  } finally {
    await replica?.drain()
  }
}

function replicaOf(modules: readonly string[], databaseUrl: string): Promise<Runner> {
  return startRunner({
    databaseUrl,
    config: readConfig({ Q_THREADS: '2' }),
    version: '0.0.0',
    taskModules: modules.map((file) => pathToFileURL(file).href),
    observe: () => {},
  })
}

function take(step: Step, folder: string, databaseUrl: string): Promise<string> {
  return step.kind === 'sql' ? send(databaseUrl, step.text) : run(step.command, folder, databaseUrl)
}

async function send(databaseUrl: string, text: string): Promise<string> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(text)
    return ''
  } finally {
    await client.end()
  }
}

/** `node file.ts …`, as the reader types it. */
async function run(command: string, folder: string, databaseUrl: string): Promise<string> {
  const [program, ...args] = command.split(' ')
  if (program !== 'node') throw new Error(`Only node is run here, not: ${command}`)
  const env = { ...process.env, DATABASE_URL: databaseUrl, NODE_OPTIONS: '--conditions=@q/source' }
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env })
  return stdout
}
