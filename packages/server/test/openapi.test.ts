/** The document that describes the API is OpenAPI 3.1, and describes every route of the table. */
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { apiRoutes } from '@q/server'
import { openApiDocument } from '../src/api/openapi.ts'

const document = openApiDocument(apiRoutes, '1.2.3')

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator()
  const { valid, errors } = await validator.validate(structuredClone(document))
  expect({ valid, errors }).toEqual({ valid: true, errors: undefined })
  expect(validator.version).toBe('3.1')
})

test('it describes every route, each with a name of its own', () => {
  const paths = Object.entries(document['paths'] as Record<string, Record<string, { operationId: string }>>)
  const described = paths.flatMap(([path, methods]) =>
    Object.keys(methods).map((one) => `${one.toUpperCase()} ${path}`),
  )
  expect(described.toSorted()).toEqual(Object.keys(apiRoutes).toSorted())
  const names = paths.flatMap(([, methods]) => Object.values(methods).map(({ operationId }) => operationId))
  expect(new Set(names).size).toBe(names.length)
})

test('every reference in it leads somewhere', () => {
  const { schemas, responses } = document['components'] as Record<string, Record<string, unknown>>
  const places = new Set([
    ...Object.keys(schemas ?? {}).map((name) => `#/components/schemas/${name}`),
    ...Object.keys(responses ?? {}).map((name) => `#/components/responses/${name}`),
  ])
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, place = '']) => place)
  expect(references.filter((place) => !places.has(place))).toEqual([])
})
