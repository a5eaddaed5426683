/** The examples of docs/how-to/your-own-transaction.md are these files, and these files do what the document says. */
import { readFile } from 'node:fs/promises'
import { Client } from 'pg'
import { afterAll, expect, test } from 'vitest'
import { testDatabase } from '@q/testing'

const document = await readFile(new URL('../../../docs/how-to/your-own-transaction.md', import.meta.url), 'utf8')
const blocks = [...document.matchAll(/^```ts\n(\/\/ (with-\S+\.ts): [^]*?)^```/gm)].map(([, code = '', file = '']) => ({
  code,
  file,
}))

const database = await testDatabase()
process.env['DATABASE_URL'] = database.url
const client = new Client({ connectionString: database.url })
await client.connect()
// An order that cannot be delivered is noticed at the commit, when its run has been enqueued.
await client.query(`
  CREATE TABLE public.orders (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, item text NOT NULL);
  CREATE FUNCTION refuse_sold_out() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF NEW.item LIKE 'sold out%' THEN RAISE EXCEPTION 'sold out'; END IF; RETURN NULL; END $$;
  CREATE CONSTRAINT TRIGGER sold_out AFTER INSERT ON public.orders DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION refuse_sold_out()`)
afterAll(async () => {
  await client.end()
  await database.drop()
})

interface Example {
  order(item: string): Promise<string>
  close(): Promise<unknown>
}

test('there is an example for every library', () => {
  expect(blocks.map(({ file }) => file)).toEqual([
    'with-pg.ts',
    'with-kysely.ts',
    'with-drizzle.ts',
    'with-drizzle-postgres-js.ts',
    'with-postgres-js.ts',
    'with-knex.ts',
    'with-prisma.ts',
  ])
})

test.each(blocks)(
  '$file matches the document; order and run are written together, or neither',
  async ({ file, code }) => {
    const url = new URL(`./examples/${file}`, import.meta.url)
    expect(await readFile(url, 'utf8')).toBe(code)
    const example = (await import(url.href)) as Example
    const runId = await example.order(`tea ${file}`)
    await expect(example.order(`sold out ${file}`)).rejects.toBeInstanceOf(Error)
    await example.close()
    const { rows } = await client.query<{ item: string; run: string }>(
      `SELECT o.item, r.id AS run FROM orders o FULL JOIN q.task_run r ON r.payload ->> 'order' = o.id::text
      WHERE r.id IS NULL OR o.item IS NULL OR o.item LIKE '%' || $1`,
      [file],
    )
    expect(rows).toEqual([{ item: `tea ${file}`, run: runId }])
  },
)
