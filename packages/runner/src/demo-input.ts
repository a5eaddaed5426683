/** Inputs of the demo tasks: a Standard Schema of one field, so that the runner needs no library for validation. */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'

export type DemoInput<Payload> = StandardSchemaV1<Payload> & StandardJSONSchemaV1<Payload>

/** An object with a non-empty text field. */
export function textField<Name extends string>(name: Name): DemoInput<Record<Name, string>> {
  const isText = (value: unknown) => typeof value === 'string' && value !== ''
  return inputOf(name, { type: 'string', minLength: 1 }, isText, 'must be a non-empty string')
}

/** An object with an integer field from 0 to `max`. */
export function countField<Name extends string>(name: Name, max: number): DemoInput<Record<Name, number>> {
  const isCount = (value: unknown) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= max
  return inputOf(name, { type: 'integer', minimum: 0, maximum: max }, isCount, `must be an integer from 0 to ${max}`)
}

function inputOf<Payload>(
  name: string,
  schema: object,
  isValid: (value: unknown) => boolean,
  message: string,
): DemoInput<Payload> {
  const jsonSchema = () => ({ type: 'object', properties: { [name]: schema }, required: [name] })
  return {
    '~standard': {
      version: 1,
      vendor: 'q',
      jsonSchema: { input: jsonSchema, output: jsonSchema },
      validate(value) {
        const given: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
        return isValid(given) ? { value: { [name]: given } as Payload } : { issues: [{ message, path: [name] }] }
      },
    },
  }
}
