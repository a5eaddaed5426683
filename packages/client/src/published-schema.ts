/**
 * Payload checks from the JSON Schemas that replicas have published. Each is compiled once, when it is first needed;
 * Ajv is loaded then, so a producer without such tasks never loads it.
 *
 * A schema that cannot be compiled checks nothing: what enqueues must not depend on it, the replica checks anyway.
 * `format` is not judged: validators disagree about what a URL is, and what a task would accept must not be refused here.
 */
import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js'
import { pointerOf, type Misfit, type PayloadCheck } from './payload-check.ts'

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
      // Read again it is another object, and mostly the same schema.
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
    return async (payload) => (validate(payload) ? [] : (validate.errors ?? []).map(misfitOf))
  } catch {
    return async () => []
  }
}

/** One each: two schemas may call themselves the same. */
function compilerOf(Compiler: typeof Ajv2020): Ajv2020 {
  return new Compiler({ allErrors: true, strict: false, validateFormats: false, logger: false })
}

/** A member that is missing, or too many, is named itself, and not the object it is about. */
function misfitOf({ instancePath, keyword, params, message = 'does not fit' }: ErrorObject): Misfit {
  const { missingProperty: missing, additionalProperty: extra } = params as Partial<Record<string, string>>
  if (keyword === 'required' && missing !== undefined) return at(instancePath, missing, 'is missing')
  if (keyword === 'additionalProperties' && extra !== undefined) return at(instancePath, extra, 'is not expected')
  return { pointer: instancePath, message }
}

function at(instancePath: string, member: string, message: string): Misfit {
  return { pointer: `${instancePath}${pointerOf([member])}`, message }
}
