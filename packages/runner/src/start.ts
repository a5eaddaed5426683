/**
 * The main job: find the database (or start one), migrate it, be a replica until told to leave.
 * `pnpm --filter runner start` and `q start` both come here; with DATABASE_URL this replica joins that cluster.
 */
import { readFileSync } from 'node:fs'
import { migrateDatabase, explainDatabaseError } from '@q/store'
import { banner } from './banner.ts'
import { readConfig } from './config.ts'
import { findDatabase } from './database.ts'
import { startRunner, type Runner } from './main/runner.ts'
import { createLog, logObserver } from './observers/log.ts'
import { exitCodeOf, exitCodes, problemText } from './problem.ts'
import { findTaskModules } from './task-modules.ts'

/** Ctrl-C reaches us twice, from the terminal and from the package manager: that is one wish. */
const sameWishMs = 500

/** Returns the exit code when the replica has left; never throws. */
export async function start(env: NodeJS.ProcessEnv = process.env): Promise<number> {
  try {
    await beReplica(env)
    return exitCodes.ok
  } catch (error) {
    console.error(problemText(error, { debug: env['Q_DEBUG'] === '1' }))
    return exitCodeOf(error)
  }
}

async function beReplica(env: NodeJS.ProcessEnv): Promise<void> {
  const config = readConfig(env)
  const taskModules = findTaskModules(config.taskModules, env)
  const terminal = process.stdout.isTTY
  const log = createLog({ level: config.logLevel, terminal })
  const version = versionOf()
  log.info({ version }, 'starting')
  const database = await findDatabase(env, { notice: (sentence) => log.warn(sentence) })
  try {
    const migrated = await migrateDatabase(env['DATABASE_URL_DIRECT'] || database.url)
    if (migrated.length > 0) log.info({ migrations: migrated }, 'migrated')
    const runner = await startRunner({
      databaseUrl: database.url,
      config,
      version,
      taskModules,
      observe: logObserver(log),
    })
    leaveOnSignals(runner)
    const facts = {
      version,
      database: database.description,
      replicaId: runner.replicaId,
      name: runner.name,
      threads: config.threads,
      preset: config.presetName,
      logLevel: config.logLevel,
      tasks: runner.tasks.map((task) => task.name),
      next: nextCommand(env),
    }
    if (terminal) console.log(banner({ ...facts, pid: process.pid }))
    else log.info(facts, 'started') // with the pid, as in every line
    await runner.left
  } catch (error) {
    throw await explainDatabaseError(error, database.url)
  } finally {
    await database.leave()
  }
}

function leaveOnSignals(runner: Runner): void {
  let askedMs = Number.NEGATIVE_INFINITY
  const leave = () => {
    if (performance.now() - askedMs < sameWishMs) return
    askedMs = performance.now()
    void runner.drain()
  }
  process.on('SIGTERM', leave)
  process.on('SIGINT', leave)
}

function nextCommand(env: NodeJS.ProcessEnv): string {
  const q = env['npm_config_user_agent']?.startsWith('pnpm') ? 'npx --yes pnpm@12 q' : 'npx q'
  return `${q} enqueue primes '{"upTo":3000000}' --wait`
}

function versionOf(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return version
}
