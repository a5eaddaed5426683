/** A program may set parsers of its own for all connections of `pg`; the store reads what it reads without them. */
import { sql } from 'kysely'
import { types } from 'pg'
import { expect, test } from 'vitest'

const own = (text: string) => `own ${text}`
const { TIMESTAMPTZ, INT8, JSONB, BOOL } = types.builtins
for (const oid of [TIMESTAMPTZ, INT8, JSONB, BOOL]) types.setTypeParser(oid, own)
// After the parsers, as in a program that sets them first.
const { fixture } = await import('./fixture.ts')
const { db } = await fixture()

test('the parsers of a program change nothing for the store', async () => {
  const { rows } =
    await sql`SELECT '2026-11-19 03:00:00.5+00'::timestamptz AS time, 'infinity'::timestamptz AS never, 7::bigint AS id,
    '{"a": 1}'::jsonb AS data, true AS yes`.execute(db)
  expect(rows).toEqual([
    {
      time: new Date('2026-11-19T03:00:00.500Z'),
      never: new Date('9999-12-31T23:59:59.999Z'),
      id: '7',
      data: { a: 1 },
      yes: true,
    },
  ])
})
