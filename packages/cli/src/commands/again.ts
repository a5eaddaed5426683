/** q again: a new run like an old one, with the same or an edited payload. The old run is never changed. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { ExplainedError } from '@q/schema'
import { hidden } from '@q/server/secrets'
import type { RunId } from '@q/store'
import { audited } from '../frame/audited.ts'
import { newCommand, operate, type CommonOptions, type CommandContext } from '../frame/command.ts'
import type { Terminal } from '../frame/terminal.ts'
import { parseRunId } from '../typed/ids.ts'
import { runNotFound } from '../typed/not-found.ts'
import { payloadText, readPayloadText } from '../typed/payload.ts'
import { revealedRun } from './show.ts'

interface Options extends CommonOptions {
  readonly payload?: string
  readonly edit?: true
  readonly reveal?: true
}

export function againCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'again',
    summary: 'enqueue a new run like this one, with the same or another payload',
    examples: [
      ['q again 9123', 'the same task, queue, keys and payload, as a new run'],
      ['q again 9123 --edit', 'opens the payload in $EDITOR first'],
      [`q again 9123 --payload '{"width":640}'`, 'with another payload; @file and - work too'],
    ],
    json: '{ runId, of }',
    route: 'POST /api/runs/{id}/again',
  })
    .argument('<run>', 'id of the run')
    .option('--payload <json>', 'JSON, @file, or - for standard input')
    .option('--edit', 'edit the payload of the old run')
    .option('--reveal', 'with --edit: with the values that are hidden elsewhere; the audit records it')
    .action(async (text: string, options: Options) => {
      await operate(terminal, options, async (context) => {
        const id = parseRunId(text)
        const payload = await newPayload(context, id, options)
        const result = await audited(context, {
          what: 'run-again',
          subject: `run ${id}`,
          detail: { edited: payload !== undefined },
          act: () => context.store.enqueueAgain(id, { by: context.by, ...(payload !== undefined && { payload }) }),
          answerOf: (answer) => (typeof answer === 'string' ? answer : `run ${answer.runId}`),
        })
        if (typeof result === 'string') throw runNotFound(id)
        context.answer({ runId: result.runId, of: id }, () => `Run ${result.runId} was enqueued, like run ${id}.`)
      })
    })
}

/** Undefined: the payload of the old run. */
async function newPayload(context: CommandContext, id: RunId, options: Options): Promise<string | undefined> {
  if (options.payload !== undefined) return withoutHidden(readPayloadText(options.payload, context.terminal.env), id)
  if (options.edit !== true) return undefined
  if (!context.terminal.canAsk) {
    throw new ExplainedError({
      code: 'EDITOR_WITHOUT_TERMINAL',
      what: 'The payload cannot be edited here; nothing was enqueued.',
      why: 'There is no terminal to open an editor in.',
      fix: 'Use --payload with JSON, @file, or - for standard input.',
    })
  }
  const detail = await (options.reveal === true ? revealedRun(context, id) : context.store.getTaskRun(id))
  if (detail === undefined) throw runNotFound(id)
  return withoutHidden(payloadText(edited(detail.payloadText ?? '{}', context.terminal.env)), id)
}

/** A payload that was copied from what q shows may have the words for a hidden value in its place. */
function withoutHidden(text: string, id: RunId): string {
  if (!text.includes(`"${hidden}"`)) return text
  throw new ExplainedError({
    code: 'PAYLOAD_HIDDEN',
    what: 'The payload has a hidden value; nothing was enqueued.',
    why: `q shows "${hidden}" in place of values that are named like a secret.`,
    fix: `Write the value, or use q again ${id} --edit --reveal.`,
  })
}

function edited(text: string, env: NodeJS.ProcessEnv): string {
  const folder = mkdtempSync(join(tmpdir(), 'q-payload-'))
  const file = join(folder, 'payload.json')
  try {
    writeFileSync(file, text)
    const editor = env['VISUAL'] || env['EDITOR'] || 'vi'
    // An editor may be given with options: "code --wait".
    const { status } = spawnSync('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' })
    if (status === 0) return readFileSync(file, 'utf8').trim()
    throw new ExplainedError({
      code: 'EDITOR_FAILED',
      what: `The editor "${editor}" failed; nothing was enqueued.`,
      why: `It ended with ${status ?? 'a signal'}.`,
      fix: 'Set EDITOR to an editor that waits, or use --payload.',
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}
