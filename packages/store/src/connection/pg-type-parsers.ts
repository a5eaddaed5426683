/** Type parsers: ids are text here, even if the program has configured `pg` to read bigint as a number. */
import { types, type CustomTypesConfig } from 'pg'

const asText = (text: string): string => text

export const pgTypeParsers: CustomTypesConfig = {
  getTypeParser: (oid, format): unknown => (oid === types.builtins.INT8 ? asText : types.getTypeParser(oid, format)),
}
