/** Typed calls of the memory server's tools that q uses. The server stores entities: a name, a type and texts. */
import type { McpConnection } from './connection.ts'
import { MemoryFailure } from './failure.ts'

export interface Entity {
  readonly name: string
  readonly entityType: string
  readonly observations: readonly string[]
}

export interface Observations {
  readonly name: string
  readonly observations: readonly string[]
}

export interface KnowledgeGraph {
  /** The entities of these names that exist. */
  open(names: readonly string[]): Promise<readonly Entity[]>
  /** The entities that contain the text in name, type or observations. */
  search(text: string): Promise<readonly Entity[]>
  /** Rejects if one of them exists already: the server would skip it silently. */
  create(entities: readonly Entity[]): Promise<void>
  /** Adds texts to existing entities. */
  add(additions: readonly Observations[]): Promise<void>
  removeObservations(removals: readonly Observations[]): Promise<void>
  remove(names: readonly string[]): Promise<void>
}

const removedAtOnceMax = 5_000

export function graphOf({ call }: McpConnection): KnowledgeGraph {
  return {
    open: async (names) => entitiesOf(await call('open_nodes', { names })),
    search: async (query) => entitiesOf(await call('search_nodes', { query })),
    async create(entities) {
      const created = new Set(entitiesOf(await call('create_entities', { entities })).map(({ name }) => name))
      const skipped = entities.find(({ name }) => !created.has(name))
      if (skipped !== undefined)
        throw new MemoryFailure(`Another program created "${skipped.name}" in the memory file at the same time.`)
    },
    async add(additions) {
      const observations = additions.map(({ name, observations: contents }) => ({ entityName: name, contents }))
      await call('add_observations', { observations })
    },
    async removeObservations(removals) {
      const deletions = removals.map(({ name, observations }) => ({ entityName: name, observations }))
      await call('delete_observations', { deletions })
    },
    async remove(names) {
      for (let start = 0; start < names.length; start += removedAtOnceMax)
        await call('delete_entities', { entityNames: names.slice(start, start + removedAtOnceMax) })
    },
  }
}

function entitiesOf(answer: unknown): readonly Entity[] {
  const entities: unknown = typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'entities') : undefined
  if (Array.isArray(entities) && entities.every(isEntity)) return entities
  throw new MemoryFailure('The command is not a memory server: its answer has no list of entities.')
}

function isEntity(value: unknown): value is Entity {
  if (typeof value !== 'object' || value === null) return false
  const { name, entityType, observations } = value as Partial<Entity>
  return typeof name === 'string' && typeof entityType === 'string' && Array.isArray(observations)
}
