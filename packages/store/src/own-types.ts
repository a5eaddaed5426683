/** How values are read: a program that taught `pg` to read bigint as number has ids as text here all the same. */
import { types, type CustomTypesConfig } from 'pg'

const asText = (text: string): string => text

export const ownTypes: CustomTypesConfig = {
  getTypeParser: (oid, format): unknown => (oid === types.builtins.INT8 ? asText : types.getTypeParser(oid, format)),
}
