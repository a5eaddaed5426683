/** The OpenAPI 3.1 document, made from the table of routes. */
import { z } from 'zod'
import { problem } from './problem.ts'
import type { Route, RouteTable } from './route.ts'

type Json = Record<string, unknown>

export function openApiDocument(table: RouteTable, version: string): Json {
  const components: Json = {}
  const paths: Record<string, Json> = {}
  for (const [key, route] of Object.entries(table)) {
    const [method = '', path = ''] = key.split(' ')
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(key, route, components) }
  }
  const problemSchema = schemaOf(problem, 'output', components)
  return {
    openapi: '3.1.0',
    info: {
      title: 'q',
      version,
      description:
        'Ids are decimal text, times ISO text with milliseconds, durations milliseconds. Lists come in pages by cursor.',
    },
    paths,
    components: {
      schemas: { ...components, Problem: problemSchema },
      responses: {
        Problem: {
          description: 'A refusal (RFC 9457).',
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: {
          type: 'apiKey',
          in: 'header',
          name: 'Q-Proof',
          description: 'Together with the cookie of the session.',
        },
      },
    },
  }
}

function operationOf(key: string, route: Route, components: Json): Json {
  const { scope, summary, query, body, answer, status = 200, problems = [], action } = route
  const success = { description: 'Done.', ...contentOf(answer, components) }
  const refusals = problems.map((one) => [one, { $ref: '#/components/responses/Problem' }])
  return {
    operationId: key
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, ''),
    summary,
    'x-scope': scope,
    ...(action === undefined ? {} : { 'x-action': action }),
    security: scope === 'open' ? [] : [{ token: [] }, { session: [] }],
    parameters: [
      ...pathParameters(key, route, components),
      ...queryParameters(query, components),
      ...headerParameters(key),
    ],
    ...(body === undefined
      ? {}
      : { requestBody: { content: { 'application/json': { schema: schemaOf(body, 'input', components) } } } }),
    responses: {
      [status]: success,
      ...Object.fromEntries(refusals),
      default: { $ref: '#/components/responses/Problem' },
    },
  }
}

function contentOf(answer: Route['answer'], components: Json): Json {
  if (answer === 'stream') return { content: { 'text/event-stream': { schema: { type: 'string' } } } }
  if (answer === 'metrics') return { content: { 'text/plain': { schema: { type: 'string' } } } }
  if (answer === 'text') return { content: { 'application/json': { schema: {} } } }
  return { content: { 'application/json': { schema: schemaOf(answer, 'output', components) } } }
}

function pathParameters(key: string, { params }: Route, components: Json): Json[] {
  return [...key.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const kind = params?.shape[name] as z.ZodType | undefined
    const schema =
      kind === undefined ? { type: 'string', minLength: 1, maxLength: 200 } : schemaOf(kind, 'input', components)
    return { name, in: 'path', required: true, schema }
  })
}

function queryParameters(query: Route['query'], components: Json): Json[] {
  return Object.entries(query?.shape ?? {}).map(([name, kind]) => ({
    name,
    in: 'query',
    required: !(kind as z.ZodType).safeParse(undefined).success,
    schema: schemaOf(kind as z.ZodType, 'input', components),
  }))
}

function headerParameters(key: string): Json[] {
  if (key !== 'POST /api/runs') return []
  return [
    {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    },
  ]
}

/** Schemas with an id become components. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', components: Json): Json {
  const made = JSON.parse(
    JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: 'any' })).replaceAll(
      '#/$defs/',
      '#/components/schemas/',
    ),
  ) as Json
  Object.assign(components, made['$defs'])
  delete made['$defs']
  delete made['$schema']
  return made
}
