/**
 * Checks payloads against the JSON Schemas that replicas have published. A schema is compiled once, when it is first needed;
 * Ajv is loaded at that time, so a producer without such tasks never loads it.
 *
 * A schema that does not compile checks nothing: enqueueing must not depend on it, and the replica checks in any case.
 * `format` is ignored: validators disagree about what a URL is, and the client must not reject what the task accepts.
 */
import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js'
import { issuePointer, type PayloadIssue, type PayloadCheck } from './payload-check.ts'

type JsonSchema = Readonly<Record<string, unknown>>

export interface PublishedSchemas {
  checkBy(task: string, schema: JsonSchema | null): PayloadCheck | undefined
}

export function createPublishedSchemas(): PublishedSchemas {
  const known = new Map<string, { readonly schema: JsonSchema; readonly text: string; readonly check: PayloadCheck }>()
  return {
    checkBy(task, schema) {
      if (schema === null) return undefined
      const before = known.get(task)
      if (before?.schema === schema) return before.check
      // A later read returns another object, usually with the same schema.
      const text = JSON.stringify(schema)
      const check = before?.text === text ? before.check : compiledOnce(schema)
      known.set(task, { schema, text, check })
      return check
    },
  }
}

function compiledOnce(schema: JsonSchema): PayloadCheck {
  let compiled: Promise<PayloadCheck> | undefined
  return async (payload) => (await (compiled ??= compile(schema)))(payload)
}

async function compile(schema: JsonSchema): Promise<PayloadCheck> {
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  try {
    const validate = compilerOf(Ajv2020).compile<unknown>(schema)
    return async (payload) => (validate(payload) ? [] : (validate.errors ?? []).map(issueOf))
  } catch {
    return async () => []
  }
}

/** One Ajv instance per schema: two schemas may have the same `$id`. */
function compilerOf(Compiler: typeof Ajv2020): Ajv2020 {
  return new Compiler({ allErrors: true, strict: false, validateFormats: false, logger: false })
}

/** For a missing or additional property, the pointer names the property instead of the object. */
function issueOf({ instancePath, keyword, params, message = 'does not fit' }: ErrorObject): PayloadIssue {
  const { missingProperty: missing, additionalProperty: extra } = params as Partial<Record<string, string>>
  if (keyword === 'required' && missing !== undefined) return at(instancePath, missing, 'is missing')
  if (keyword === 'additionalProperties' && extra !== undefined) return at(instancePath, extra, 'is not expected')
  return { pointer: instancePath, message }
}

function at(instancePath: string, member: string, message: string): PayloadIssue {
  return { pointer: `${instancePath}${issuePointer([member])}`, message }
}
