/**
 * Values that no database stores and no route means, at every place of every route of the OpenAPI document: a clear
 * refusal, never an internal error.
 */
import { afterAll, beforeEach, expect, test } from 'vitest'
import { schemasIn, withAt, type Path, type Schema } from './json-schema.ts'
import { rawRequest, type RawAnswer } from './raw-request.ts'
import { serverScene } from './scene.ts'
import { seed } from './seed.ts'

const scene = await serverScene({}, { actionsAtOnce: 1_000_000 })
afterAll(() => scene.close())
beforeEach(() => void (scene.faults.length = 0))
await seed(scene.store, scene.database.url)

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: Schema
}
interface Operation {
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } }
}
const { data: document } = await scene.ask('GET', '/api/openapi.json', { token: scene.tokens.owner })
const { least, places } = schemasIn(document)
const operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
  ([path, methods]) => Object.entries(methods).map(([method, one]) => ({ method: method.toUpperCase(), path, ...one })),
)
type Listed = (typeof operations)[number]

const tooLarge = '9223372036854775808'
const malformed = ['%', '%zz', '%2', '%ff', '%c3%28', '%ed%a0%80']

/** The address with the least valid values, except those that are given. */
function addressOf({ path, parameters }: Listed, values: Readonly<Record<string, string>> = {}): string {
  const valueOf = ({ name, schema }: Parameter) => values[name] ?? encodeURIComponent(String(least(schema)))
  const filled = parameters
    .filter((one) => one.in === 'path')
    .reduce((text, one) => text.replace(`{${one.name}}`, () => valueOf(one)), path)
  const query = parameters
    .filter((one) => one.in === 'query' && (one.required || values[one.name] !== undefined))
    .map((one) => `${one.name}=${valueOf(one)}`)
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`
}

async function send(operation: Listed, path: string, body?: unknown): Promise<RawAnswer> {
  const schema = operation.requestBody?.content['application/json'].schema
  const sent = body ?? (schema === undefined ? undefined : least(schema))
  return rawRequest(scene.server.port, {
    method: operation.method,
    path,
    headers: {
      Authorization: `Bearer ${scene.tokens.owner}`,
      ...(sent === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
  })
}

/** The answers that are not a clear refusal, each with its request. */
function unclear(asked: string, { status, code, headers, text }: RawAnswer): string[] {
  const isProblem = String(headers['content-type']).startsWith('application/problem+json') && code !== undefined
  const { why, fix } = isProblem ? (JSON.parse(text) as { why: string; fix: string }) : { why: '', fix: '' }
  const isClear = isProblem && status >= 400 && status < 500 && why !== '' && fix !== ''
  return isClear ? [] : [`${asked}: ${status} ${code ?? text.slice(0, 200)}`]
}

test.each(operations)('$method $path refuses an address that cannot be read', async (operation) => {
  const found: string[] = []
  const separator = addressOf(operation).includes('?') ? '&' : '?'
  const addresses = ['%00', ...malformed].flatMap((text) => [
    `${addressOf(operation)}${separator}unknown=${text}`,
    ...operation.parameters
      .filter((one) => one.in !== 'header')
      .map(({ name, in: where }) => addressOf(operation, { [name]: where === 'path' ? `a${text}` : text })),
  ])
  for (const address of addresses) found.push(...unclear(address, await send(operation, address)))
  expect(found).toEqual([])
  expect(scene.faults.map(String)).toEqual([])
})

const isId = ({ pattern }: Schema) => pattern?.startsWith('^[1-9]\\d{0,18}') === true

test.each(operations)('$method $path refuses ids of more than 64 bits', async (operation) => {
  const found: string[] = []
  const { parameters, requestBody } = operation
  for (const one of parameters) {
    if (!isId(one.schema.items ?? one.schema)) continue
    for (const id of [tooLarge, '9'.repeat(19), '9'.repeat(20), '-1', '0', '1e3', '0x1']) {
      const address = addressOf(operation, { [one.name]: id })
      found.push(...unclear(address, await send(operation, address)))
    }
  }
  const body = requestBody?.content['application/json'].schema
  for (const { path, schema } of body === undefined ? [] : places(body)) {
    if (!isId(schema)) continue
    const sent = withAt(least(body as Schema), path, tooLarge)
    found.push(...unclear(path.join('.'), await send(operation, addressOf(operation), sent)))
  }
  expect(found).toEqual([])
  expect(scene.faults.map(String)).toEqual([])
})

test.each(operations)('$method $path meets no value that is an internal error', async (operation) => {
  const hostile = (schema: Schema): unknown[] =>
    schema.type === 'string'
      ? [
          'x\0y',
          '\uD800',
          '',
          ' ',
          'x'.repeat(5_000),
          '{"a":"\\u0000"}',
          '"\\ud800"',
          '9'.repeat(30),
          '9999999999.9999999999',
        ]
      : [Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, 1.5, 1e300, 2_147_483_648, -1, 0]
  const found: string[] = []
  const note = (path: Path | string, value: unknown, { status, code }: RawAnswer) => {
    if (status >= 500) found.push(`${String(path)} = ${JSON.stringify(value)?.slice(0, 40)}: ${status} ${code}`)
  }
  const body = operation.requestBody?.content['application/json'].schema
  for (const { path, schema } of body === undefined ? [] : places(body)) {
    for (const value of hostile(schema))
      note(path, value, await send(operation, addressOf(operation), withAt(least(body as Schema), path, value)))
  }
  for (const one of operation.parameters) {
    if (one.in === 'header') continue
    for (const value of hostile(one.schema.items ?? one.schema)) {
      const text = encodeURIComponent(String(value).replaceAll(/[\0\uD800]/g, '\u{10FFFF}'))
      if (operation.path === '/api/events') continue
      note(one.name, value, await send(operation, addressOf(operation, { [one.name]: text })))
    }
  }
  expect(found).toEqual([])
  expect(scene.faults.map(String)).toEqual([])
})

test('a body in another encoding than UTF-8 is refused, instead of being stored with other letters', async () => {
  const answer = await fetch(`${scene.base}/api/runs`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${scene.tokens.enqueue}`, 'Content-Type': 'application/json' },
    body: Buffer.from('{"task":"hello","payload":{"name":"Jürgen"}}', 'latin1'),
  })
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({
    code: 'PARAMETER_INVALID',
    errors: [{ at: 'body', problem: 'is not UTF-8' }],
  })
})
