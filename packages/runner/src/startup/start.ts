/**
 * Starts a replica: finds the database (or starts one), migrates it, and runs until a signal or a drain ends the replica.
 * `pnpm --filter runner start` and `q start` both call this; with DATABASE_URL the replica joins that cluster.
 */
import { readFileSync } from 'node:fs'
import { explainDatabaseError, migrateDatabase, migrationPlan, databaseAddress } from '@q/store'
import { banner } from './banner.ts'
import { boundOutput, type BoundedOutput } from '../output/bounded-output.ts'
import { retryUntilReachable, logIfSlow, unlessLeaving } from './wait-for-database.ts'
import { readConfig, type RunnerConfig } from '../settings/config.ts'
import { findDatabase } from './database.ts'
import { preparePage, type ReplicaPage } from './page.ts'
import { listenForShutdown, type ShutdownSignals } from './shutdown-signals.ts'
import type { Departure } from '../main/drain.ts'
import { observeAll } from '../main/events.ts'
import { newReplicaId } from '../main/identity.ts'
import { pause } from '../main/loop.ts'
import { startRunner, type Runner, type RunnerOptions } from '../main/runner.ts'
import { createLog, logObserver, type Logger } from '../observers/log.ts'
import { createMetricsObserver } from '../observers/metrics.ts'
import { exitCodeAfter, exitCodeOf, exitCodes, problemData, problemText } from '../output/report-error.ts'
import { settings } from '../settings/settings.ts'
import { findTaskModules } from './task-modules.ts'

interface StartOptions {
  /** On a terminal, too, print the log as JSON; print an error that ends the start as its last line. */
  readonly json?: boolean
}

/** Returns the exit code when the replica has left; never throws. */
export async function start(
  env: NodeJS.ProcessEnv = process.env,
  { json = false }: StartOptions = {},
): Promise<number> {
  const signals = listenForShutdown()
  const outputs = [process.stdout, process.stderr].map(boundOutput)
  try {
    const terminal = process.stdout.isTTY && !json
    return exitCodeAfter(await runReplica(env, { signals, outputs, terminal }))
  } catch (error) {
    if (error === signals.leaving.reason) return exitCodes.ok // it left before it had started
    if (json) console.log(JSON.stringify(problemData(error)))
    else console.error(problemText(error, { debug: env['Q_DEBUG'] === '1' }))
    return exitCodeOf(error)
  } finally {
    await Promise.race([Promise.all(outputs.map((output) => output.flushed())), pause(lastLinesMsMax)])
  }
}

/** How long the end of the process waits for its last lines to be read. */
const lastLinesMsMax = 1_000

interface Process {
  readonly signals: ShutdownSignals
  readonly outputs: readonly BoundedOutput[]
  /** Whether a person reads the log. */
  readonly terminal: boolean
}

async function runReplica(env: NodeJS.ProcessEnv, { signals, outputs, terminal }: Process): Promise<Departure> {
  const { config, taskModules } = readEnvironment(env)
  const startPage = await preparePage(env)
  const log = createLog({ level: config.logLevel, terminal })
  const version = programVersion()
  const metrics = createMetricsObserver(version)
  let runner: Runner | undefined
  for (const output of outputs)
    output.onDropped((lines) => {
      metrics.observe({ type: 'log-lines-dropped', lines })
      log.warn({ lines }, 'dropped log lines: the output was not being read')
    })
  log.info({ version }, 'starting')
  for (const warning of config.warnings) log.warn(warning)
  const database = await logIfSlow(
    () => log.info('starting the embedded database'),
    findDatabase(env, { notice: (sentence) => log.warn(sentence), revive: true }),
  )
  const page = await startPage({
    databaseUrl: database.url,
    version,
    readMetrics: () => metrics.read(runner?.stats()),
    log,
  })
  try {
    runner = await join(log, {
      databaseUrl: database.url,
      directUrl: env['DATABASE_URL_DIRECT'] || database.url,
      config,
      version,
      taskModules,
      replicaId: newReplicaId(),
      observe: observeAll([...(page === undefined ? [] : [page.observe]), metrics.observe, logObserver(log)]),
      ...endpointOf(env, page),
      leaving: signals.leaving,
    })
    log.setBindings({ node: runner.name })
    signals.attach(runner)
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
    if (terminal) console.log(banner({ ...facts, pid: process.pid, ...(page?.link && { link: page.link }) }))
    else log.info({ ...facts, ...placesOf(page) }, 'started') // with the pid, as in every line
    return await runner.left
  } catch (error) {
    if (error === signals.leaving.reason) log.info('stopped by a signal before the start was complete')
    throw error
  } finally {
    metrics.close()
    await page?.close()
    await database.close()
  }
}

function placesOf(page: ReplicaPage | undefined): { readonly page?: string; readonly metricsPort?: number } {
  const { url, metricsPort } = page ?? {}
  return { ...(url !== undefined && { page: url }), ...(metricsPort !== undefined && { metricsPort }) }
}

/** The address that other programs use to reach this replica: as configured, else that of its page. */
function endpointOf(env: NodeJS.ProcessEnv, page: ReplicaPage | undefined): { readonly endpoint?: string } {
  const endpoint = env['Q_ENDPOINT'] || page?.url
  return endpoint === undefined ? {} : { endpoint }
}

/** Reports together all problems that can be found before anything is started. */
function readEnvironment(env: NodeJS.ProcessEnv): { config: RunnerConfig; taskModules: string[] } {
  const errors: unknown[] = []
  const attempt = <T>(read: () => T): T | undefined => {
    try {
      return read()
    } catch (error) {
      errors.push(error)
      return undefined
    }
  }
  const config = attempt(() => readConfig(env))
  const taskModules = attempt(() => findTaskModules(settings.taskModules.parse(env['Q_TASKS'] ?? '') ?? [], env))
  const { DATABASE_URL: url, DATABASE_URL_DIRECT: directUrl } = env
  // An empty variable is a mistake, not a request for an embedded database.
  attempt(() => url !== undefined && databaseAddress(url))
  attempt(() => directUrl && databaseAddress(directUrl))
  if (config === undefined || taskModules === undefined || errors.length > 0)
    throw errors.length === 1 ? errors[0] : new AggregateError(errors)
  return { config, taskModules }
}

interface JoinOptions extends RunnerOptions {
  readonly directUrl: string
  readonly leaving: AbortSignal
}

/** Migrates, loads the task modules and registers. Retries after a temporary error of the database, as the same replica. */
function join(log: Logger, options: JoinOptions): Promise<Runner> {
  const { databaseUrl, directUrl, config, taskModules, leaving } = options
  const loading = () => log.info({ taskModules }, 'loading the task modules')
  const attempt = async () => {
    await migrate(directUrl, log, leaving)
    return logIfSlow(loading, startRunner(options))
  }
  const explained = async (error: unknown) => {
    throw await explainDatabaseError(error, databaseUrl)
  }
  return retryUntilReachable(() => attempt().catch(explained), {
    leaving,
    forMs: config.databaseWaitMs,
    onWait: ({ code, message, why }) =>
      log.warn({ code, what: message, why, waitMs: config.databaseWaitMs }, 'waiting for the database'),
  })
}

async function migrate(url: string, log: Logger, leaving: AbortSignal): Promise<void> {
  const slow = () =>
    log.info('the database is slow to answer, or its schema is being migrated, here or by another program')
  const migrated = await unlessLeaving(leaving, logIfSlow(slow, migrateDatabase(url)))
  if (migrated.length === 0) return
  log.info({ migrations: migrated }, 'migrated')
  const { olderReplicas } = await migrationPlan(url)
  if (olderReplicas.length > 0) log.warn({ replicas: olderReplicas }, 'replicas of older releases are alive')
}

/** Exactly what to type next, in another terminal. */
function nextCommand(env: NodeJS.ProcessEnv, tasks: readonly string[]): string {
  const prefixes = ['DATABASE_URL', 'Q_DATA_DIR'].filter((name) => env[name]).map((name) => `${name}="$${name}" `)
  const q = env['npm_config_user_agent']?.startsWith('pnpm') ? 'npx --yes pnpm@12 q' : 'npx q'
  const [task, payload] = tasks.includes('primes') ? ['primes', '{"upTo":3000000}'] : [tasks[0] ?? 'hello', '{}']
  return `${prefixes.join('')}${q} enqueue ${task} '${payload}' --wait`
}

function programVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return version
}
