/** Least privilege: what each role of db/roles.sql can do, and what it cannot. */
import { readFile } from 'node:fs/promises'
import { Client, type Notification } from 'pg'
import { afterAll, expect, test } from 'vitest'
import { queue } from '@q/client'
import { readConfig, startRunner } from '@q/runner'
import { connect, createStore, migrateDatabase, requireSchema } from '@q/store'
import type * as tasks from '../tasks.ts'
import { runScript } from '../../../schema/test/run-script.ts'
import { logins } from './logins.ts'

const people = await logins()
const { owner, url } = people
afterAll(() => people[Symbol.asyncDispose]())
await owner.query(
  `INSERT INTO q.task (name, queue, published_by) VALUES ('hello', 'default', 'r'), ('greet', 'default', 'r')`,
)

async function as(role: string): Promise<Client> {
  const client = new Client({ connectionString: await people.login(role) })
  await client.connect()
  return client
}

const denied = expect.objectContaining({ code: '42501' })

test('the script is idempotent', async () => {
  const rights = async () =>
    (
      await owner.query<{ rights: unknown }>(`SELECT relname, relacl::text AS rights FROM pg_class
        WHERE relnamespace = 'q'::regnamespace UNION ALL SELECT proname, proacl::text FROM pg_proc
        WHERE pronamespace = 'q'::regnamespace ORDER BY 1, 2`)
    ).rows
  const before = await rights()
  await runScript(url, await readFile(new URL('../../../../db/roles.sql', import.meta.url), 'utf8'))
  expect(await rights()).toEqual(before)
})

test('a producer can enqueue, and can neither read nor change rows', async () => {
  const producer = await as('q_producer')
  const { rows } = await producer.query<{ id: string }>(
    `SELECT * FROM q.enqueue('hello', '{"name":"Ada"}', unique_key => 'k')`,
  )
  expect(rows).toMatchObject([{ status: 'AVAILABLE', duplicate: false }])
  for (const law of ['throttle', 'debounce']) {
    for (const duplicate of [false, true]) {
      const answer = await producer.query(
        `SELECT duplicate FROM q.enqueue('hello', ${law}_key => 'k', ${law}_for => '1 h')`,
      )
      expect(answer.rows).toEqual([{ duplicate }])
    }
  }
  for (const statement of [
    'SELECT * FROM q.task_run',
    `UPDATE q.task_run SET status = 'CANCELLED'`,
    'DELETE FROM q.task_run',
    `INSERT INTO q.task_run (task, lane) VALUES ('hello', 1)`,
    'TRUNCATE q.task_run',
    'SELECT * FROM q.task',
    'SELECT * FROM q.debounce',
    'DELETE FROM q.unique_period',
    `INSERT INTO q.idle VALUES ('x')`,
    `SELECT nextval('q.task_run_id_seq')`,
    `SELECT q.lane_of('a', 'b', '{}')`,
    `CREATE FUNCTION q.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'`,
  ]) {
    await expect(producer.query(statement)).rejects.toEqual(denied)
  }
  await producer.end()
  expect((await owner.query('SELECT status FROM q.task_run WHERE id = $1', [rows[0]!.id])).rows).toEqual([
    { status: 'AVAILABLE' },
  ])
})

test('the search path of a producer does not affect the function', async () => {
  await owner.query('CREATE SCHEMA tricks; GRANT ALL ON SCHEMA tricks TO q_producer')
  const producer = await as('q_producer')
  await producer.query(`
    CREATE FUNCTION tricks.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql AS $$ BEGIN RAISE 'tricked'; END $$;
    CREATE FUNCTION tricks.always(text, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'tricked'; END $$;
    CREATE OPERATOR tricks.= (FUNCTION = tricks.always, LEFTARG = text, RIGHTARG = text);
    SET search_path = tricks, pg_catalog`)
  await owner.query(`INSERT INTO q.idle VALUES ('idle')`)
  const { rows } = await producer.query(`SELECT * FROM q.enqueue('hello', '{"name":"Bob"}')`)
  expect(rows).toMatchObject([{ duplicate: false }])
  await owner.query('DELETE FROM q.idle')
  await producer.end()
})

test('a trigger on a user’s table enqueues, in the transaction that fired it, and its commit wakes an idle replica', async () => {
  await owner.query(`
    CREATE TABLE public.customers (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL);
    CREATE FUNCTION public.greet_customer() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM q.enqueue('greet', jsonb_build_object('name', NEW.name), unique_key => NEW.id::text);
      RETURN NULL;
    END $$;
    CREATE TRIGGER greet_customer AFTER INSERT ON public.customers FOR EACH ROW EXECUTE FUNCTION public.greet_customer();
    GRANT INSERT, SELECT ON public.customers TO q_producer`)
  const received = Promise.withResolvers<string | undefined>()
  owner.on('notification', ({ payload }: Notification) => received.resolve(payload))
  await owner.query(`LISTEN q_ready; INSERT INTO q.idle VALUES ('idle')`)
  const shop = await as('q_producer')
  await shop.query(`BEGIN; INSERT INTO public.customers (name) VALUES ('Eve'); ROLLBACK`)
  await shop.query(`BEGIN; INSERT INTO public.customers (name) VALUES ('Ada'), ('Bob'); COMMIT`)
  await shop.end()
  expect(await received.promise).toBe('default')
  await owner.query('UNLISTEN q_ready; DELETE FROM q.idle')
  const { rows } = await owner.query(
    `SELECT payload ->> 'name' AS name FROM q.task_run WHERE task = 'greet' ORDER BY id`,
  )
  expect(rows).toEqual([{ name: 'Ada' }, { name: 'Bob' }])
})

test('a reader sees everything, and changes nothing', async () => {
  await owner.query(`SELECT * FROM q.enqueue('hello')`)
  const readerUrl = await people.login('q_reader')
  const connection = connect(readerUrl, { purpose: 'pool' })
  const store = createStore(connection.db)
  const { runs } = await store.listTaskRuns({}, { limit: 10 })
  expect(runs.length).toBeGreaterThan(0)
  await store.getTaskRun(runs[0]!.id)
  await store.whyNotRunning(runs[0]!.id)
  await store.listQueues()
  await store.listNodes()
  await expect(store.cancelTaskRuns([runs[0]!.id])).rejects.toEqual(denied)
  await expect(store.pauseQueue('default', 'reader')).rejects.toEqual(denied)
  await connection.close()
})

test('the rights of q_runner are enough for a replica, and those of q_client for a client', async () => {
  const runnerUrl = await people.login('q_runner')
  expect(await migrateDatabase(runnerUrl)).toEqual([])
  await requireSchema(runnerUrl)
  const events: unknown[] = []
  const runner = await startRunner({
    databaseUrl: runnerUrl,
    config: readConfig({ Q_THREADS: '2' }),
    version: '0.0.0',
    taskModules: [new URL('../tasks.ts', import.meta.url).href],
    observe: (event) => void events.push(event),
  })
  const clientUrl = await people.login('q_client')
  const q = queue<typeof tasks>(clientUrl)
  const inTransaction = new Client({ connectionString: clientUrl })
  await inTransaction.connect()
  await inTransaction.query('BEGIN')
  const runs = [
    await q.enqueue('charge', { account: 'a' }),
    await q.enqueue('charge', { account: 'a' }, { tx: inTransaction }),
  ]
  await inTransaction.query('COMMIT')
  await inTransaction.end()
  expect(await Promise.all(runs.map((run) => run.result({ timeout: '40s' })))).toEqual(['charged a', 'charged a'])

  const connection = connect(clientUrl, { purpose: 'pool' })
  const store = createStore(connection.db)
  const lane = await store.internLane({ queue: 'default', task: 'unserved' })
  const run = { task: 'unserved', lane, payload: {}, uniqueKey: 'k', uniqueForMs: 60_000 }
  const [made] = await store.enqueueTaskRuns([run])
  expect(await store.enqueueTaskRuns([run])).toMatchObject([{ id: made!.id, duplicate: true }])
  expect(await store.cancelTaskRuns([made!.id])).toEqual(['cancelled'])
  await store.retryTaskRun(made!.id)
  await connection.close()

  await q.close()
  await Promise.race([runner.drain(), runner.drain()])
  expect(JSON.stringify(events, (_, value: unknown) => (value instanceof Error ? value.message : value))).not.toMatch(
    /permission denied|must be owner/,
  )
})

test('an admin and a replica may create destinations, and every role that changes runs reports to them', async () => {
  for (const role of ['q_admin', 'q_runner']) {
    const connection = connect(await people.login(role), { purpose: 'pool' })
    const store = createStore(connection.db)
    expect(await store.putDestination({ name: role, kind: 'log', reports: ['status'] })).toBe('made')
    await connection.close()
  }
  const client = await as('q_client')
  await expect(client.query(`DELETE FROM q.destination`)).rejects.toEqual(denied)
  const producer = await as('q_producer')
  for (const login of [client, producer]) {
    await login.query(`SELECT * FROM q.enqueue('hello')`)
    await login.end()
  }
  const { rows } = await owner.query(
    `SELECT destination, count(*)::int AS reports FROM q.delivery GROUP BY 1 ORDER BY 1`,
  )
  expect(rows).toEqual([
    { destination: 'q_admin', reports: 2 },
    { destination: 'q_runner', reports: 2 },
  ])
  await owner.query('DELETE FROM q.destination; DELETE FROM q.delivery')
})

test('an admin can pause, drain and retry, and a runner cannot', async () => {
  const asRunner = connect(await people.login('q_runner'), { purpose: 'pool' })
  await expect(createStore(asRunner.db).pauseQueue('default', 'runner')).rejects.toEqual(denied)
  await asRunner.close()
  const asAdmin = connect(await people.login('q_admin'), { purpose: 'pool' })
  const store = createStore(asAdmin.db)
  await store.pauseQueue('default', 'admin')
  await store.resumeQueue('default')
  await store.setGroupWeight({ queue: 'default', group: 'tenant' }, 3)
  await asAdmin.close()
  const client = await as('q_admin')
  for (const statement of [
    `DELETE FROM q.migration`,
    `UPDATE q.compatibility SET oldest_program = 99`,
    `DROP TABLE q.idle`,
  ]) {
    await expect(client.query(statement)).rejects.toEqual(denied)
  }
  await client.end()
})
