/** Reads a payload: JSON text, `@file`, `-` for standard input, or nothing, which means `{}`. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { ExplainedError } from '@q/schema'
import { InexactInteger, parseExactJson } from '@q/schema/json'

/** Throws `PAYLOAD_INEXACT` for an integer that loses digits: the client takes a value and not its text. */
export function readPayload(argument: string | undefined, env: NodeJS.ProcessEnv): unknown {
  const text = readPayloadText(argument ?? '{}', env)
  try {
    return parseExactJson(text)
  } catch (error) {
    throw error instanceof InexactInteger ? inexact(error) : error
  }
}

function inexact({ digits }: InexactInteger): ExplainedError {
  return new ExplainedError({
    code: 'PAYLOAD_INEXACT',
    what: `The payload has the integer ${digits}; nothing was enqueued.`,
    why: `A number of JavaScript keeps the digits of an integer only up to ${Number.MAX_SAFE_INTEGER}.`,
    fix: `Write it as text: "${digits}". The task reads such an id as text too.`,
  })
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
