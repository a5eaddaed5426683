/** Finds a node by its name, the beginning of its id, or a unique part of its name. */
import { ExplainedError } from '@q/schema'
import type { Node, Store } from '@q/store'

export async function nodeNamed(store: Store, text: string): Promise<Node> {
  const candidates = await store.findNode(text)
  const [only, ...others] = candidates
  if (only === undefined) throw await notFound(store, text)
  if (others.length === 0) return only
  throw new ExplainedError({
    code: 'NODE_AMBIGUOUS',
    what: `"${text}" may be any of ${candidates.length} nodes: ${candidates.slice(0, namesMax).map(nameOf).join(', ')}.`,
    why: 'More than one node has a name or an id that fits.',
    fix: only.name === text ? `Use the id: ${only.id}, for instance.` : 'Use the whole name, or more of the id.',
  })
}

const namesMax = 10

async function notFound(store: Store, text: string): Promise<ExplainedError> {
  const names = (await store.listNodes()).map(({ name }) => name)
  const known = names.length === 0 ? 'There is no node at all.' : `There are: ${names.slice(0, namesMax).join(', ')}.`
  return new ExplainedError({
    code: 'NODE_NOT_FOUND',
    what: `There is no node "${text}".`,
    why: known,
    fix: 'Use a name or the beginning of an id; q nodes --stopped lists the nodes that have left, too.',
  })
}

function nameOf({ name, id, state }: Node): string {
  return `${name} (${id}, ${state === 'stale' ? 'lost' : state})`
}
