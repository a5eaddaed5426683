/** Why a run is not running: a sentence per reason, and under each the command that helps. Pure. */
import { sentenceOf, type Reason, type Why } from '@q/store'
import type { Look } from '../frame/terminal.ts'
import { shellWord } from '@q/server/client'
import { moment } from '../words/ages.ts'
import { runStateText } from '../words/states.ts'
import { styled } from '../words/style.ts'
import { wrapped } from '../words/wrap.ts'

export function whyScreen(look: Look, why: Why, task: string): string {
  const heading = `${styled(look, 'bold', `run ${why.runId}`)}  ${task}  ${runStateText(look, { status: why.status })}`
  return [heading, ...why.reasons.flatMap((reason) => reasonLines(look, reason, why))].join('\n')
}

function reasonLines(look: Look, reason: Reason, why: Pick<Why, 'runId'>): string[] {
  const command = commandFor(reason, why.runId)
  return [
    ...wrapped(whySentence(reason), look.columns - 2).map((line) => `  ${line}`),
    ...(command === undefined ? [] : [`    ${styled(look, 'cyan', command)}`]),
  ]
}

/** The sentence of the store, with the time by the clock here, as on every screen. */
export function whySentence(reason: Reason, now: Date = new Date()): string {
  const sentence = sentenceOf(reason)
  return reason.reason === 'time' ? sentence.replace(reason.until.toISOString(), moment(reason.until, now)) : sentence
}

/** The command that helps; undefined: there is nothing to do but wait. */
function commandFor(reason: Reason, runId: string): string | undefined {
  switch (reason.reason) {
    case 'ended':
      return reason.status === 'SUCCEEDED' ? `q show ${runId}` : `q retry ${runId}`
    case 'held':
      return reason.state === 'alive' || reason.state === 'draining'
        ? `q node ${shellWord(reason.name ?? reason.replicaId)}`
        : 'q recover --dry-run'
    case 'workflow-paused':
      return `q workflows resume ${reason.workflowId}`
    case 'parents':
      return `q show ${runId}`
    case 'concurrency': {
      const [holder] = reason.holders
      return holder === undefined ? undefined : `q show ${holder.runId}`
    }
    case 'queue-paused':
      return `q queues resume ${shellWord(reason.queue)}`
    case 'no-replica':
      return 'q start'
    case 'task-unpublished':
    case 'task-unknown':
    case 'queue-unserved':
      return 'q nodes --wide'
    case 'capabilities-missing':
      return `q node ${shellWord(reason.closest)}`
    case 'all-draining': {
      const [first] = reason.nodes
      return first === undefined ? undefined : `q undrain ${shellWord(first)}`
    }
    case 'ready':
      return 'q runs --view running'
    case 'expired':
    case 'lane-missing':
    case 'task-gate':
    case 'time':
      return undefined
  }
}
