/** The statements of docs/how-to/enqueue-from-sql.md, run in the order in which they stand there. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { logins } from './logins.ts'

test('every statement of the document works as described', async () => {
  await using people = await logins()
  const { owner } = people
  const document = await readFile(new URL('../../../../docs/how-to/enqueue-from-sql.md', import.meta.url), 'utf8')
  // A login is there for the whole server: this one is tried and not kept.
  const statements = [...document.matchAll(/^```sql\n([^]*?)^```/gm)].map(([, text = '']) =>
    text.startsWith('CREATE ROLE') ? `BEGIN; ${text} ROLLBACK` : text,
  )
  expect(statements).toHaveLength(7)
  await owner.query('SET search_path = public')
  await owner.query(
    `INSERT INTO q.task (name, queue, published_by) VALUES ('receipt', 'default', 'r'), ('report', 'default', 'r')`,
  )
  const answers: unknown[] = []
  for (const statement of statements) {
    const result: unknown = await owner.query(statement)
    answers.push(([result].flat().at(-1) as { rows: unknown[] }).rows)
  }
  expect(answers[0]).toEqual([{ id: '1', status: 'AVAILABLE', duplicate: false }])
  expect(answers[2]).toEqual([{ duplicate: true }])
  const { rows } = await owner.query(
    `SELECT coalesce(payload ->> 'order', payload ->> 'day') AS of, status, unique_key FROM q.task_run ORDER BY id`,
  )
  expect(rows).toEqual([
    { of: '7', status: 'AVAILABLE', unique_key: null },
    { of: '8', status: 'PENDING', unique_key: 'order-8' },
    { of: 'friday', status: 'PENDING', unique_key: null },
    { of: '1', status: 'AVAILABLE', unique_key: null },
    { of: '2', status: 'AVAILABLE', unique_key: null },
    { of: '3', status: 'AVAILABLE', unique_key: '3' },
    { of: '4', status: 'AVAILABLE', unique_key: '4' },
  ])
})
