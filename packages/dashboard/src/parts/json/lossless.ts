/**
 * Reads JSON text without changing a digit: numbers keep their text, so that 64-bit integers arrive as they were stored. Pure.
 */
export type JsonNode =
  | { readonly kind: 'atom'; readonly raw: string }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [key: string, value: JsonNode])[] }

const depthMax = 100
const token = /\s*([[\]{},:]|"(?:[^"\\]|\\.)*"|[^\s[\]{},:"]+)/gy

/** Undefined: the text is not JSON, or deeper than a person reads. */
export function parseLossless(text: string): JsonNode | undefined {
  const tokens = tokenize(text)
  if (tokens === undefined) return undefined
  const reader = { tokens, at: 0 }
  try {
    const node = valueAt(reader, 0)
    return reader.at === tokens.length ? node : undefined
  } catch {
    return undefined
  }
}

function tokenize(text: string): string[] | undefined {
  const tokens: string[] = []
  token.lastIndex = 0
  let end = 0
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    tokens.push(match[1] as string)
    end = token.lastIndex
  }
  return text.slice(end).trim() === '' ? tokens : undefined
}

interface Reader {
  readonly tokens: readonly string[]
  at: number
}

function valueAt(reader: Reader, depth: number): JsonNode {
  if (depth > depthMax) throw new RangeError('too deep')
  const first = next(reader)
  if (first === '{') return { kind: 'object', members: list(reader, '}', () => memberAt(reader, depth)) }
  if (first === '[') return { kind: 'array', items: list(reader, ']', () => valueAt(reader, depth + 1)) }
  return { kind: 'atom', raw: checked(first) }
}

function memberAt(reader: Reader, depth: number): readonly [string, JsonNode] {
  const key = next(reader)
  if (!key.startsWith('"') || next(reader) !== ':') throw new SyntaxError(key)
  return [checked(key), valueAt(reader, depth + 1)]
}

/** Throws unless the text is a number, a string or a word of JSON by itself. */
function checked(atom: string): string {
  JSON.parse(atom)
  return atom
}

function list<T>(reader: Reader, end: string, read: () => T): T[] {
  const found: T[] = []
  if (reader.tokens[reader.at] === end) {
    reader.at += 1
    return found
  }
  for (;;) {
    found.push(read())
    const after = next(reader)
    if (after === end) return found
    if (after !== ',') throw new SyntaxError(after)
  }
}

function next(reader: Reader): string {
  const found = reader.tokens[reader.at]
  reader.at += 1
  if (found === undefined) throw new SyntaxError('end')
  return found
}

/** The same text with line breaks and indents, for editing. */
export function pretty(text: string): string {
  const node = parseLossless(text)
  return node === undefined ? text : printed(node, '')
}

function printed(node: JsonNode, indent: string): string {
  const inner = `${indent}  `
  switch (node.kind) {
    case 'atom':
      return node.raw
    case 'array':
      return node.items.length === 0
        ? '[]'
        : `[\n${node.items.map((item) => inner + printed(item, inner)).join(',\n')}\n${indent}]`
    case 'object':
      return node.members.length === 0
        ? '{}'
        : `{\n${node.members.map(([key, value]) => `${inner}${key}: ${printed(value, inner)}`).join(',\n')}\n${indent}}`
  }
}
