/** Reads the JSON of a request; limits its size and depth before it parses the text. */
import { isUtf8 } from 'node:buffer'
import { InexactInteger, jsonLimits, parseExactJson } from '@q/schema/json'
import { discardBytesMax } from './discard-body.ts'
import { requireShallow } from './require-shallow.ts'
import { requireStorable } from './require-storable.ts'
import { Refusal, wrongParameters } from './refusal.ts'

const bodyMax = 1_048_576 + 65_536
/** The body itself is one level around a payload. */
const levelsMax = jsonLimits.depthMax + 1

export async function readBody(request: Request): Promise<unknown> {
  const text = await readText(request)
  if (text.trim() === '') return {}
  const type = (request.headers.get('Content-Type') ?? '').split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json')
    throw new Refusal(415, {
      code: 'CONTENT_TYPE_INVALID',
      what: 'The body is not JSON.',
      why: `Its Content-Type is ${type === undefined || type === '' ? 'missing' : `"${type.slice(0, 100)}"`}.`,
      fix: 'Send JSON with `Content-Type: application/json`.',
    })
  requireShallow(text, 'body', levelsMax)
  const body = parsed(text)
  requireStorable(body)
  return body
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch (error) {
    throw wrongParameters([
      { at: 'body', problem: error instanceof InexactInteger ? error.message : 'cannot be read as JSON' },
    ])
  }
}

async function readText(request: Request): Promise<string> {
  if (Number(request.headers.get('Content-Length') ?? 0) > bodyMax) throw tooLarge()
  if (request.body === null) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > discardBytesMax) break
    if (size <= bodyMax) chunks.push(chunk)
  }
  if (size > bodyMax) throw tooLarge()
  return decoded(Buffer.concat(chunks))
}

/** Refuses other encodings: their letters would be stored as replacement characters. */
function decoded(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw wrongParameters([{ at: 'body', problem: 'is not UTF-8' }])
  return bytes.toString('utf8')
}

function tooLarge(): Refusal {
  return new Refusal(413, {
    code: 'BODY_TOO_LARGE',
    what: 'The body is too large.',
    why: 'At most 1 MiB of payload is stored with a run.',
    fix: 'Store large data elsewhere and send its address.',
  })
}
