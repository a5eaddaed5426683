/** Finds a node by its name, its id or the beginning of its id. */
import type { Node, Store } from '@q/store'
import { Refusal, notFound } from '../http/refusal.ts'

export async function oneNode(reads: Store, text: string): Promise<Node> {
  const [node, ...others] = await reads.findNode(text)
  if (node === undefined) throw notFound(`There is no node "${text}".`)
  if (others.length === 0) return node
  const names = [node, ...others].slice(0, 5).map(({ id, name }) => `${name} (${id})`)
  throw new Refusal(409, {
    code: 'NODE_AMBIGUOUS',
    what: `"${text}" names more than one node.`,
    why: `It matches ${names.join(', ')}.`,
    fix: 'Use the whole id.',
  })
}
