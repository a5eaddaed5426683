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
  const signals = leaveOnSignals()
  const config = readConfig(env)
  const taskModules = findTaskModules(config.taskModules, env)
  const terminal = process.stdout.isTTY
  const log = createLog({ level: config.logLevel, terminal })
  const version = programVersion()
  log.info({ version }, 'starting')
  for (const warning of config.warnings) log.warn(warning)
  const database = await findDatabase(env, { notice: (sentence) => log.warn(sentence) })
  try {
    const directUrl = env['DATABASE_URL_DIRECT'] || database.url
    const migrated = await migrateDatabase(directUrl)
    if (migrated.length > 0) log.info({ migrations: migrated }, 'migrated')
    const runner = await startRunner({
      databaseUrl: database.url,
      directUrl,
      config,
      version,
      taskModules,
      observe: logObserver(log),
    })
    signals.obey(runner)
    const tasks = runner.tasks.map((task) => task.name)
    const facts = {
      version,
      database: database.description,
      replicaId: runner.replicaId,
      name: runner.name,
      threads: config.threads,
      preset: config.presetName,
      logLevel: config.logLevel,
      tasks,
      next: nextCommand(env, tasks),
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

/** From the first moment on: a signal that comes while we boot is obeyed as soon as there is something to drain. */
function leaveOnSignals(): { obey(runner: Runner): void } {
  let runner: Runner | undefined
  let wishes = 0
  let interruptedMs = Number.NEGATIVE_INFINITY
  const leave = () => {
    wishes++
    void runner?.drain()
  }
  process.on('SIGTERM', leave)
  process.on('SIGINT', () => {
    const sameWish = performance.now() - interruptedMs < sameWishMs
    interruptedMs = performance.now()
    if (!sameWish) leave()
  })
  return {
    obey(started) {
      runner = started
      for (let wish = 0; wish < wishes; wish++) void runner.drain()
    },
  }
}

/** Exactly what to type next, in another terminal. */
function nextCommand(env: NodeJS.ProcessEnv, tasks: readonly string[]): string {
  const settings = ['DATABASE_URL', 'Q_DATA_DIR'].filter((name) => env[name]).map((name) => `${name}="$${name}" `)
  const q = env['npm_config_user_agent']?.startsWith('pnpm') ? 'npx --yes pnpm@12 q' : 'npx q'
  const [task, payload] = tasks.includes('primes') ? ['primes', '{"upTo":3000000}'] : [tasks[0] ?? 'hello', '{}']
  return `${settings.join('')}${q} enqueue ${task} '${payload}' --wait`
}

export function programVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return version
}
