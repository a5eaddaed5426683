/** The members of an interface with their contracts, from its comments: `// ---- Title` begins a part. */
export function contractsOf(source: string): string {
  const body = [...source.matchAll(/^export interface \w+(?:<\w+>)?(?: extends [^{]+)? \{\n([^]*?)^\}/gm)]
    .map(([, inside]) => inside)
    .join('\n')
  const parts = [
    ...body.matchAll(
      /^ {2}\/\/ ---- (.+)$|^ {2}\/\*\*(?:\n((?: {3}\* .*\n)+) {3}| (.+) )\*\/\n {2}(\w+[<(][^]*?)(?:\n(?=\n|$)|\n?$(?![^]))/gm,
    ),
  ]
  const text = parts.map(([, title, lines, line = '', signature = '']) =>
    title === undefined ? member(lines ?? line, signature) : `\n## ${title}\n`,
  )
  return text.join('\n')
}

function member(comment: string, signature: string): string {
  const lines = comment.trimEnd().split('\n')
  const [name] = signature.split(/[<(]/, 1)
  const contract = lines.map((line) => line.replace(/^ {3}\* /, '')).join('\n')
  const code = signature
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('( ', '(')
    .replaceAll(/,? \)/g, ')')
  return `### ${name}\n\n\`\`\`ts\n${code}\n\`\`\`\n\n${contract}\n`
}
