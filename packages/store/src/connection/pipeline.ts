/**
 * Sends prepared statements, several in one round trip: Bind and Execute for each, one Sync at the end of each transaction.
 * Each statement has its own snapshot, so a later one sees what an earlier one wrote; an error in any rolls back its
 * transaction and leaves the next one as it is.
 *
 * A Submittable of `pg`, like its cursors. Named statements are prepared first, in a separate round trip: after an error
 * in the middle the client could not tell which names the server knows. The server describes their columns then, and not
 * with each answer.
 */
import type { CompiledQuery } from 'kysely'
import type { Client, Connection as Wire, FieldDef, PoolClient } from 'pg'
import { pgTypeParsers } from './pg-type-parsers.ts'

export interface NamedQuery {
  readonly query: Pick<CompiledQuery, 'sql' | 'parameters'>
  /** Kept by the server under this name; undefined: parsed each time. */
  readonly name: string | undefined
}

/** The answer to one statement, as `pg` has it. */
export interface Answer {
  readonly rows: unknown[]
  readonly command: string
  readonly rowCount: number | null
}

/**
 * Sends transactions in one round trip. Resolves once they are sent, with a promise of the answers for each. No other
 * work may use the client before all have come. A transaction without statements is not sent, and has no answers.
 */
export async function pipeline(
  client: PoolClient,
  transactions: readonly (readonly NamedQuery[])[],
): Promise<Promise<Answer[]>[]> {
  const ready: ReadyStatement[][] = []
  for (const queries of transactions) {
    const statements: ReadyStatement[] = []
    for (const query of queries) statements.push(await readied(client, query))
    ready.push(statements)
  }
  const sent = ready.filter((statements) => statements.length > 0)
  const sendAll = (wire: Wire) => {
    for (const statements of sent) {
      for (const statement of statements) send(wire, statement)
      wire.sync()
    }
  }
  // `pg` hands what arrives to the first exchange until the server is ready again, then to the next one.
  return ready.map(async (statements) => {
    if (statements.length === 0) return []
    const readers = statements.map(({ read }) => read)
    return submitted(client, statements === sent[0] ? sendAll : nothing, readers)
  })
}

/** Sends one statement, in a transaction of its own unless one is open. */
export async function execute(client: PoolClient, query: NamedQuery): Promise<Answer> {
  const [sent] = await pipeline(client, [[query]])
  const [answer] = (await sent) ?? []
  if (answer === undefined) throw new Error('The server has not said what became of a statement.')
  return answer
}

/** Resolves when the server has answered a bare Sync: the backend is alive. Begins no transaction. */
export async function ping(client: Client): Promise<void> {
  await submitted(client, (wire) => wire.sync())
}

interface ReadyStatement {
  readonly name: string
  readonly text: string
  readonly values: (string | null)[]
  /** Reads a row; undefined: the server has not described the columns yet. */
  readonly read: RowReader | undefined
}

function send(wire: Wire, { name, text, values, read }: ReadyStatement): void {
  if (name === '') wire.parse({ name, text, types: [] }, true)
  wire.bind({ statement: name, values }, true)
  if (read === undefined) wire.describe({ type: 'P' }, true)
  wire.execute(null, true)
}

const learntBy = new WeakMap<PoolClient, Map<string, RowReader>>()

async function readied(client: PoolClient, { name = '', query }: NamedQuery): Promise<ReadyStatement> {
  const values = query.parameters.map(wireText)
  const read = name === '' ? undefined : await learn(client, name, query.sql)
  return { name, text: query.sql, values, read }
}

async function learn(client: PoolClient, name: string, text: string): Promise<RowReader> {
  const learnt = learntBy.get(client) ?? new Map<string, RowReader>()
  learntBy.set(client, learnt)
  const known = learnt.get(name)
  if (known !== undefined) return known
  let fields: readonly FieldDef[] = []
  const prepare = (wire: Wire) => {
    wire.parse({ name, text, types: [] }, true)
    wire.describe({ type: 'S', name }, true)
    wire.sync()
  }
  await submitted(client, prepare, [], (described) => (fields = described))
  const read = rowReader(fields)
  learnt.set(name, read)
  return read
}

/** Sends the messages of `sendAll`; resolves when the server is ready again. */
function submitted(
  client: Client | PoolClient,
  sendAll: (wire: Wire) => void,
  readers: readonly (RowReader | undefined)[] = [],
  onDescribed: (fields: readonly FieldDef[]) => void = nothing,
): Promise<Answer[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer[]>()
  const answers: Answer[] = []
  let described: RowReader = () => ({})
  let rows: unknown[] = []
  const exchange = {
    submit(wire: Wire) {
      wire.stream.cork()
      sendAll(wire)
      wire.stream.uncork()
    },
    handleRowDescription({ fields }: { fields: FieldDef[] }) {
      described = rowReader(fields)
      onDescribed(fields)
    },
    handleDataRow({ fields }: { fields: (string | null)[] }) {
      const read = readers[answers.length] ?? described
      rows.push(read(fields))
    },
    handleCommandComplete({ text }: { text: string }) {
      const [command = '', ...counts] = text.split(' ')
      answers.push({ rows, command, rowCount: Number(counts.at(-1) ?? 0) })
      rows = []
    },
    handleReadyForQuery: () => exchange.callback(null),
    handleError: (error: Error) => exchange.callback(error),
    /** `pg` wraps its query timeout around this callback. */
    callback: (error: Error | null) => (error === null ? resolve(answers) : reject(error)),
  }
  client.query(exchange)
  return promise
}

function nothing(): void {}

type RowReader = (values: readonly (string | null)[]) => Record<string, unknown>

function rowReader(fields: readonly FieldDef[]): RowReader {
  const parserOf = pgTypeParsers.getTypeParser as (oid: number, format: 'text') => (text: string) => unknown
  const columns = fields.map(({ name, dataTypeID }) => ({ name, parse: parserOf(dataTypeID, 'text') }))
  // Once per row of a large batch: no iterator, and every row gets its columns in the same order.
  return (values) => {
    const row: Record<string, unknown> = {}
    for (let index = 0; index < columns.length; index++) {
      const { name, parse } = columns[index] as (typeof columns)[number]
      const value = values[index] ?? null
      row[name] = value === null ? null : parse(value)
    }
    return row
  }
}

/** As text: our statements take text, numbers, booleans, null, and arrays of them. */
function wireText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return Array.isArray(value) ? `{${value.map(element).join(',')}}` : plain(value)
}

function element(value: unknown): string {
  if (value === null) return 'NULL'
  return typeof value === 'number' ? String(value) : `"${plain(value).replaceAll(/["\\]/g, '\\$&')}"`
}

function plain(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new TypeError(`A prepared statement has a parameter that is ${typeof value}.`)
}
