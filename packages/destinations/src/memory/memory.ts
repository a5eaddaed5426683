/**
 * A memory file, served by a process of its own: serialises all writers of the file, also those of other processes, and
 * offers operations on single keys. Reading needs no lock, because the server replaces the file as a whole.
 */
import { randomUUID } from 'node:crypto'
import { openConnection } from './connection.ts'
import { MemoryFailure } from './failure.ts'
import { createFileLock } from './file-lock.ts'
import { type Entity, type KnowledgeGraph, graphOf } from './graph.ts'
import { installedServer } from './mcp.ts'
import { byTime } from './observations.ts'
import { explainServerError } from './torn-line.ts'

export interface Memory {
  /** Runs the work while no other program of q writes the file, so it may write values that depend on what it read. */
  exclusively<T>(work: (graph: KnowledgeGraph) => Promise<T>): Promise<T>
  /** The entity of a key, with its observations oldest first. Undefined: there is none. */
  get(key: string): Promise<Entity | undefined>
  /** The entities whose key matches the pattern (`*` matches any characters), ordered by key. */
  list(pattern: string): Promise<readonly Entity[]>
  /** Replaces the value of a key. A reader never finds the key without a value. */
  put(key: string, value: string): Promise<'created' | 'replaced' | 'unchanged'>
  /** Tests the file: writes, reads and removes a key below this one. */
  test(below: string): Promise<void>
  /** Ends work in progress. */
  close(): Promise<void>
}

export interface MemoryOptions {
  /** Absolute. */
  readonly file: string
  /** Null: the installed server. */
  readonly command: readonly string[] | null
  readonly nowMs?: () => number
}

export async function openMemory({ file, command, nowMs = Date.now }: MemoryOptions): Promise<Memory> {
  const connection = await openConnection({
    file,
    command: command ?? installedServer(),
    nowMs,
    explain: (error) => explainServerError(error, file),
  })
  const lock = createFileLock(file)
  const reading = graphOf(connection)
  const writing = graphOf({
    ...connection,
    async call(tool, args) {
      await lock.requireHeld()
      return await connection.call(tool, args)
    },
  })
  let last: Promise<unknown> = Promise.resolve()
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work)
    last = result.catch(() => undefined)
    return result
  }
  function exclusively<T>(work: (graph: KnowledgeGraph) => Promise<T>): Promise<T> {
    return inTurn(() => lock.during(() => work(writing)))
  }
  return {
    exclusively,
    get: (key) => inTurn(() => entityAt(reading, key)),
    list: (pattern) => inTurn(() => matching(reading, pattern)),
    put: (key, value) => exclusively((graph) => replace(graph, key, value)),
    test: (below) => exclusively((graph) => tryOut(graph, `${below}/${randomUUID()}`)),
    async close() {
      lock.close()
      await connection.close()
      await last
    },
  }
}

async function entityAt(graph: KnowledgeGraph, key: string): Promise<Entity | undefined> {
  const [entity] = await graph.open([key])
  return entity && { ...entity, observations: byTime(entity.observations) }
}

async function matching(graph: KnowledgeGraph, pattern: string): Promise<readonly Entity[]> {
  const parts = pattern.split('*')
  const isMatch = new RegExp(`^${parts.map(RegExp.escape).join('.*')}$`, 's')
  const longest = parts.toSorted((a, b) => b.length - a.length)[0] ?? ''
  const entities = (await graph.search(longest)).filter(({ name }) => isMatch.test(name))
  return entities.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

async function replace(
  graph: KnowledgeGraph,
  key: string,
  value: string,
): Promise<'created' | 'replaced' | 'unchanged'> {
  const [entity] = await graph.open([key])
  if (entity === undefined) {
    await graph.create([{ name: key, entityType: 'value', observations: [value] }])
    return 'created'
  }
  const old = entity.observations.filter((observation) => observation !== value)
  if (old.length === 0 && entity.observations.length > 0) return 'unchanged'
  await graph.add([{ name: key, observations: [value] }])
  await graph.removeObservations([{ name: key, observations: old }])
  return 'replaced'
}

async function tryOut(graph: KnowledgeGraph, key: string): Promise<void> {
  const entity = { name: key, entityType: 'test', observations: ['{"test":true}'] }
  await graph.create([entity])
  const [found] = await graph.open([key])
  await graph.remove([key])
  if (found?.observations[0] !== entity.observations[0])
    throw new MemoryFailure(
      'A value that was just written could not be read: does another program write the same file?',
    )
}
