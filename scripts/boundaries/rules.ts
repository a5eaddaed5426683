/**
 * The rules that the sources keep, each with its reason. An exception is part of its rule, with its own reason.
 * A rule that cannot be kept is changed here, in the same commit and with a better reason.
 */
import { directions } from './directions.ts'
import { declaredTwice } from './exported-names.ts'
import { importing, longerThan, named, type Where, writing } from './finds.ts'
import type { Rule } from './rule.ts'
import { singleFiles } from './single-files.ts'

const timers = /\b(setTimeout|setInterval|setImmediate)\b/
const timerModules = /^(node:)?timers(\/promises)?$/

const timersOfTheRunner: Where = {
  in: 'packages/runner/src/**',
  but: {
    'packages/runner/src/main/loop.ts': 'the clock of every loop',
    'packages/runner/src/thread/run-slot.ts': 'a thread shows that it is alive between two signs of its task',
    'packages/runner/src/protocol/own-clocks.ts': 'takes the timers of a thread before task code can replace them',
    'packages/runner/src/thread/serve.ts': 'a thread lets its event loop turn between two runs of a batch',
    'packages/runner/src/observers/successes.ts': 'the log sums up the successes of a second',
    'packages/runner/src/demo-tasks.ts': 'user code, in effect: its work is to wait',
  },
}

export const rules: readonly Rule[] = [
  ...directions,
  ...singleFiles,

  // ---- time and surroundings
  ...[writing(timers, timersOfTheRunner), importing(timerModules, timersOfTheRunner)].map((find) => ({
    rule: 'only loop.ts and the files listed here set timers in the runner',
    reason: 'a tick returns when to run next, so a test can call it without waiting',
    find,
  })),
  ...[writing(timers, { in: 'packages/store/src/**' }), importing(timerModules, { in: 'packages/store/src/**' })].map(
    (find) => ({
      rule: 'no timers in the store',
      reason: 'callers decide when to call the store',
      find,
    }),
  ),
  {
    rule: 'no Date.now in the store',
    reason: 'time is the database’s: clocks of replicas differ',
    find: writing(/\bDate\s*\.\s*now\b|\bnew\s+Date\s*\(\s*\)/, { in: 'packages/store/src/**' }),
  },
  {
    rule: 'no process.env in the store',
    reason: 'configuration is read once, at the edge of a program',
    find: writing(/\bprocess\s*\.\s*env\b/, { in: 'packages/store/src/**' }),
  },
  {
    rule: 'no logger in the store',
    reason: 'the store returns what happened, and observers log it',
    find: writing(/\bconsole\s*\.|\b(?<!\.)(log|logger)\s*\.\s*(trace|debug|info|warn|error|fatal)\b/, {
      in: 'packages/store/src/**',
    }),
  },

  // ---- names
  {
    rule: 'each exported name is declared in one file',
    reason:
      'a reader would take two things with one name for the same; an answer of the API has the name of what it shows',
    find: declaredTwice(
      { in: 'packages/*/src/**', but: { 'packages/examples/src/**': 'are programs of users' } },
      { in: 'packages/server/src/api/**', after: 'packages/{schema,store}/src/**' },
    ),
  },

  // ---- files
  {
    rule: 'no file name that any code would fit',
    reason: 'it will',
    find: named(/^(utils?|common|helpers?|managers?|services?|types|interfaces|constants|misc)$/),
  },
  {
    rule: 'no file over 250 lines',
    reason: 'a file has one job; generated files are exempt',
    find: longerThan(250),
  },
]
