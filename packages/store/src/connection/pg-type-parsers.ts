/**
 * Type parsers that do not depend on the configuration of `pg` in the program, which may have set parsers of its own for
 * all connections: ids are text, and a time is always a Date. SQL can write an infinite time, for example to park a run; it
 * reads as the first or last time that ISO 8601 writes with four digits of the year, so that no reader has to expect another
 * type.
 */
import { types, type CustomTypesConfig } from 'pg'
import textParsers from 'pg-types/lib/textParsers.js'

type Parse = (text: string) => unknown

const parsers = new Map<number, Parse>()
textParsers.init((oid, parse) => parsers.set(oid, parse))
const { INT8, TIMESTAMPTZ } = types.builtins
const first = new Date('0000-01-01T00:00:00.000Z')
const last = new Date('9999-12-31T23:59:59.999Z')
const asText: Parse = (text) => text
const asDate = parsers.get(TIMESTAMPTZ) as (text: string) => Date | number
parsers.set(INT8, asText)
parsers.set(TIMESTAMPTZ, (text) => {
  const time = asDate(text)
  if (time instanceof Date) return time
  return time > 0 ? last : first
})

export const pgTypeParsers: CustomTypesConfig = {
  getTypeParser(oid, format): unknown {
    return format === 'binary' ? types.getTypeParser(oid, format) : (parsers.get(oid) ?? asText)
  },
}
