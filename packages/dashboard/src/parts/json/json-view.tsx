/** JSON as it is stored: exact numbers, hidden values as such, long parts closed until they are opened. */
import type { ReactNode } from 'react'
import { bytes, several } from '../../words/numbers.ts'
import { visibleText } from '../../words/visible-text.ts'
import { Card } from '../card.tsx'
import { Copy } from '../copy.tsx'
import { type JsonNode, parseLossless, pretty } from './lossless.ts'

/** The server writes this instead of a value that must not be shown. */
const hidden = '"[hidden]"'
const openedMax = 30
const drawnMax = 200_000

interface CardProps {
  readonly title: string
  readonly text: string
  /** What shows hidden values. */
  readonly reveal?: ReactNode
}

export function JsonCard({ title, text, reveal }: CardProps): ReactNode {
  const concealed = text.split(hidden).length - 1
  const end = (
    <>
      {concealed === 0 ? null : reveal}
      <Copy text={pretty(text)} label={`Copy the ${title.toLowerCase()}`} />
    </>
  )
  const sub = `${bytes(new TextEncoder().encode(text).length)}${concealed === 0 ? '' : `, ${several(concealed, 'value')} hidden`}`
  return (
    <Card title={title} sub={sub} end={end}>
      <JsonView text={text} label={title} />
    </Card>
  )
}

function JsonView({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const node = text.length > drawnMax ? undefined : parseLossless(text)
  return (
    <pre className="json" tabIndex={0} role="group" aria-label={label}>
      {node === undefined ? visibleText(text.slice(0, drawnMax)) : <Value node={node} depth={0} />}
    </pre>
  )
}

function Value({ node, depth }: { readonly node: JsonNode; readonly depth: number }): ReactNode {
  if (node.kind === 'atom') return node.raw === hidden ? <i className="h">hidden</i> : visibleText(node.raw)
  const [open, close] = node.kind === 'array' ? ['[', ']'] : ['{', '}']
  const parts: readonly (readonly [string | null, JsonNode])[] =
    node.kind === 'array' ? node.items.map((item) => [null, item]) : node.members
  if (parts.length === 0) return `${open}${close}`
  if (node.kind === 'array' && isShort(node.items)) return <ShortArray items={node.items} depth={depth} />
  return (
    <details open={depth < 3 && parts.length <= openedMax}>
      <summary>
        {open}
        <span className="n">
          {' '}
          {several(parts.length, node.kind === 'array' ? 'item' : 'member')} {close}
        </span>
      </summary>
      {parts.map(([key, value], index) => (
        <span className="in" key={key ?? index}>
          {key === null ? null : (
            <>
              <span className="k">{visibleText(key)}</span>:{' '}
            </>
          )}
          <Value node={value} depth={depth + 1} />
          {index === parts.length - 1 ? '' : ','}
        </span>
      ))}
      {close}
    </details>
  )
}

function isShort(items: readonly JsonNode[]): boolean {
  return (
    items.length <= 8 &&
    items.every((item) => item.kind === 'atom') &&
    items.reduce((sum, item) => sum + (item.kind === 'atom' ? item.raw.length : 0), 0) < 60
  )
}

function ShortArray({ items, depth }: { readonly items: readonly JsonNode[]; readonly depth: number }): ReactNode {
  return (
    <>
      [
      {items.map((item, index) => (
        <span key={index}>
          {index === 0 ? '' : ', '}
          <Value node={item} depth={depth + 1} />
        </span>
      ))}
      ]
    </>
  )
}
