/** The name of a node with the beginning of its id: a name is used again after a restart, an id never. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Node } from '../api/contract.ts'

export function NodeName({ node }: { readonly node: Pick<Node, 'id' | 'name'> }): ReactNode {
  return (
    <span className="nw">
      <Link href={`/nodes/${encodeURIComponent(node.id)}`}>
        <b>{node.name}</b>
      </Link>{' '}
      <span className="id mute">{shortId(node)}</span>
    </span>
  )
}

/** The part of the id that tells two nodes of one name apart. */
export function shortId({ id, name }: Pick<Node, 'id' | 'name'>): string {
  const own = id.startsWith(name) ? id.slice(name.length).replace(/^[-_.:]+/, '') : id
  return (own === '' ? id : own).slice(0, 4)
}

const names = new Intl.Collator('en', { numeric: true })

/** Numbers within names count by their value: eu-9 comes before eu-10. */
export function compareNames(a: string, b: string): number {
  return names.compare(a, b)
}

/** By name; of two with one name the one that started first. */
export function byName<T extends Pick<Node, 'name' | 'startedAt'>>(nodes: readonly T[]): T[] {
  return nodes.toSorted((a, b) => compareNames(a.name, b.name) || names.compare(a.startedAt, b.startedAt))
}
