import { expect, test } from 'vitest'
import { parseExactJson } from '../src/json/index.ts'

test.each(['9007199254740993', '-9223372036854775808', '1152921504606846976', '[{"id": 10000000000000001}]'])(
  '%s is refused: it would be stored as another number',
  (text) => expect(() => parseExactJson(text)).toThrow(/has the integer -?\d+, which loses digits/),
)

test.each(['9007199254740991', '9007199254740992', '-0', '1e300', '0.1', '"9007199254740993"', '{"a":[1,null]}'])(
  '%s is the value that JSON.parse returns',
  (text) => expect(parseExactJson(text)).toEqual(JSON.parse(text)),
)
