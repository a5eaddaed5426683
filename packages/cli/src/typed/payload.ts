/** Reads a payload: JSON text, `@file`, `-` for standard input, or nothing, which means `{}`. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { ExplainedError } from '@q/schema'

export function readPayload(argument: string | undefined, env: NodeJS.ProcessEnv): unknown {
  return JSON.parse(readPayloadText(argument ?? '{}', env))
}

/** Returns the JSON text itself, so that numbers keep all their digits. */
export function readPayloadText(argument: string, env: NodeJS.ProcessEnv): string {
  return payloadText(textOf(argument, env))
}

/** Returns the text if it is JSON. */
export function payloadText(text: string): string {
  try {
    JSON.parse(text)
    return text
  } catch (cause) {
    throw new ExplainedError({
      code: 'PAYLOAD_NOT_JSON',
      what: 'The payload is not JSON; nothing was enqueued.',
      why: cause instanceof Error ? `${cause.message}.` : String(cause),
      fix: `In a shell, put it in single quotes: '{"name":"Ada"}'. Or use @file, or - for standard input.`,
      cause,
    })
  }
}

function textOf(argument: string, env: NodeJS.ProcessEnv): string {
  const file =
    argument === '-' ? 0 : argument.startsWith('@') ? resolve(env['INIT_CWD'] ?? '.', argument.slice(1)) : undefined
  if (file === undefined) return argument
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new ExplainedError({
      code: 'PAYLOAD_UNREADABLE',
      what: `The payload cannot be read from ${file === 0 ? 'standard input' : file}.`,
      why: cause instanceof Error ? `${cause.message}.` : String(cause),
      fix: 'Check the name and the rights of the file.',
      cause,
    })
  }
}
