/**
 * Type parsers that do not depend on the configuration of `pg` in the program: ids are text, and a time is always a Date.
 * SQL can write an infinite time, for example to park a run; it reads as the first or last Date there is, so that no reader
 * has to expect another type.
 */
import { types, type CustomTypesConfig } from 'pg'
import { dateMsMax } from '../clock.ts'

const asText = (text: string): string => text
const asDate = types.getTypeParser(types.builtins.TIMESTAMPTZ, 'text') as (text: string) => Date | number

function asFiniteDate(text: string): Date {
  const time = asDate(text)
  return time instanceof Date ? time : new Date(time > 0 ? dateMsMax : -dateMsMax)
}

export const pgTypeParsers: CustomTypesConfig = {
  getTypeParser(oid, format): unknown {
    if (oid === types.builtins.INT8) return asText
    return oid === types.builtins.TIMESTAMPTZ && format !== 'binary' ? asFiniteDate : types.getTypeParser(oid, format)
  },
}
