/** What the hot table's indexes may be about, asked of the catalogs. */
import { expect, test } from 'vitest'
import { sql } from 'kysely'
import { fixture } from '../fixture.ts'

const { db } = await fixture()

const { rows: indexes } = await sql<{ name: string; table: string; definition: string; columns: string[] }>`
  SELECT c.relname AS name, t.relname AS table, pg_get_indexdef(c.oid) AS definition,
    -- of its key and of its predicate: an index depends on each of them
    ARRAY(SELECT DISTINCT a.attname::text FROM pg_depend d
      JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
      WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.refobjid = t.oid) AS columns
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
  WHERE t.relnamespace = 'q'::regnamespace`.execute(db)

const ofRuns = indexes.filter(({ table }) => table === 'task_run')

test('no index of runs mentions status, in its key or in its predicate: a start stays a HOT update', () => {
  expect(
    ofRuns.filter(({ columns, definition }) => columns.includes('status') || /\bstatus\b/.test(definition)),
  ).toEqual([])
})

test('no index mentions the time of a beat: a heartbeat stays a HOT update', () => {
  const beats = ['last_heartbeat', 'sent_at']
  expect(indexes.filter(({ columns }) => beats.some((beat) => columns.includes(beat)))).toEqual([])
})

test('the catalogs include the columns of predicates, so these rules are not empty', () => {
  expect(indexes.find(({ name }) => name === 'task_run_ready')?.columns.toSorted()).toEqual(
    ['grp', 'id', 'lane', 'priority', 'ready', 'run_at'], // `ready` is its predicate
  )
})
