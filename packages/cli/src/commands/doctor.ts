/** q doctor: checks everything that q depends on, worst findings first. */
import type { Command } from 'commander'
import { containerMb } from '@q/runner/container-memory'
import { exitCodes } from '@q/runner/report-error'
import { ExplainedError } from '@q/schema'
import { connect, createStore, migrationPlan } from '@q/store'
import { checks } from '../doctor/checks.ts'
import { runCheck, type Check, type CheckResult, type Surroundings } from '../doctor/check.ts'
import { answerText } from '../frame/answer.ts'
import { newCommand, type CommonOptions } from '../frame/command.ts'
import { once } from '../frame/once.ts'
import { patiently } from '../frame/patience.ts'
import { runWithDatabase } from '../frame/run-with-database.ts'
import type { Terminal } from '../frame/terminal.ts'
import { doctorScreen } from '../screens/doctor.ts'

interface Options extends CommonOptions {
  readonly only?: string
  readonly strict?: true
  readonly all?: true
}

/** The time limit of one statement: a check that hangs on the server ends there too. */
const statementMs = 3_000

export function doctorCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'doctor',
    summary: 'check the database, the schema, the fleet and this machine; each finding with its fix',
    examples: [
      ['q doctor', 'findings only, worst first; exit code 1 if a check failed'],
      ['q doctor --only schema,vacuum.held-xmin --all', 'some checks, those without findings too'],
      ['q doctor --strict --json', 'for a deployment: exit code 6 on warnings'],
    ],
    json: '{ ok, note, warn, fail, skipped, tookMs, checks: [{ id, level, what, why, fix, tookMs }] }',
  })
    .option(
      '--only <checks>',
      'groups or checks, separated by commas: reach, server, schema, vacuum, liveness, work, here',
    )
    .option('--strict', 'exit code 6 for warnings')
    .option('--all', 'show the checks that found nothing, too')
    .action(async (options: Options) => {
      await runWithDatabase(terminal, { ...options, anySchema: true }, async ({ url, embedded }) => {
        const wanted = wantedChecks(options.only)
        const connection = connect(url, { purpose: 'pool', connectionsMax: 3, statementMsMax: statementMs })
        try {
          const begun = performance.now()
          const store = createStore(connection.db)
          // A server that does not answer is not a finding: the command fails like every other one.
          const first = await patiently(
            terminal,
            () => 'waiting for the database',
            () => store.inspectServer(),
          )
          const directUrl = terminal.env['DATABASE_URL_DIRECT'] || url
          const surroundings: Surroundings = {
            store,
            url,
            directUrl,
            embedded,
            env: terminal.env,
            memoryLimitMb: containerMb(),
            server: () => Promise.resolve(first),
            nodes: once(() => store.listNodes()),
            attention: once(() => store.attention()),
            migrations: once(() => migrationPlan(directUrl)),
          }
          const results: CheckResult[] = []
          for (const check of wanted) {
            const look = () => runCheck(check, surroundings)
            results.push(await patiently(terminal, () => `checking ${check.id}`, look, begun))
          }
          const tookMs = Math.round(performance.now() - begun)
          if (options.json === true)
            terminal.printData(answerText({ ...tally(results), tookMs, checks: results }, options.fields))
          else terminal.print(doctorScreen(terminal, results, { tookMs, all: options.all === true }))
          return exitCodeOf(results, options)
        } finally {
          await connection.close()
        }
      })
    })
}

/**
 * Selects checks by group or id. Unknown names are refused: otherwise a misspelt name would look like a result without
 * findings.
 */
function wantedChecks(only: string | undefined): readonly Check[] {
  if (only === undefined) return checks
  const names = only.split(',').map((name) => name.trim())
  const fits = (name: string) => (check: Check) => check.id === name || check.id.startsWith(`${name}.`)
  const unknown = names.filter((name) => !checks.some(fits(name)))
  if (unknown.length === 0) return checks.filter((check) => names.some((name) => fits(name)(check)))
  throw new ExplainedError({
    code: 'CHECK_UNKNOWN',
    what: `There is no check ${unknown.join(', ')}.`,
    why: '--only takes names of groups and checks.',
    fix: `Use ${[...new Set(checks.map(({ id }) => id.split('.')[0]))].join(', ')}, or one of ${checks.map(({ id }) => id).join(', ')}.`,
  })
}

function tally(results: readonly CheckResult[]): Record<CheckResult['level'], number> {
  const counted = { ok: 0, note: 0, warn: 0, fail: 0, skipped: 0 }
  for (const { level } of results) counted[level]++
  return counted
}

function exitCodeOf(results: readonly CheckResult[], { strict }: Options): number {
  const { fail, warn } = tally(results)
  if (fail > 0) return exitCodes.runFailed
  return warn > 0 && strict === true ? exitCodes.partly : exitCodes.ok
}
