/**
 * A document as a program: its `ts` blocks are files, its `console` and `sql` blocks are what the reader does with them,
 * in the order in which they stand.
 *
 *   ```ts        begins with a line `// name.ts`, or `// name.ts: what it is`
 *   ```console   `$ node app.ts`, and below it what it prints; `…` stands for anything
 *   ```sql       statements, sent to the database of the document
 *
 * What is meant to be typed at a shell of the reader's own, with nothing to run here, is a `sh` block.
 */
export interface Document {
  readonly files: ReadonlyMap<string, string>
  readonly steps: readonly Step[]
}

export type Step =
  | { readonly kind: 'command'; readonly command: string; readonly prints: string }
  | { readonly kind: 'sql'; readonly text: string }

export function readDocument(markdown: string): Document {
  const files = new Map<string, string>()
  const steps: Step[] = []
  for (const [, language = '', code = ''] of markdown.matchAll(/^```(\w+)\n([^]*?)^```$/gm)) {
    if (language === 'ts') addFile(files, code)
    if (language === 'console') steps.push(commandOf(code))
    if (language === 'sql') steps.push({ kind: 'sql', text: code })
  }
  return { files, steps }
}

function addFile(files: Map<string, string>, code: string): void {
  const [, name] = /^\/\/ ([\w./-]+\.ts)\b/.exec(code) ?? []
  if (name === undefined) throw new Error(`A block of code has no name:\n${code.slice(0, 200)}`)
  if (files.has(name)) throw new Error(`Two blocks are called ${name}.`)
  files.set(name, code)
}

function commandOf(code: string): Step {
  const [, command, prints] = /^\$ (.+)\n([^]*)$/.exec(code) ?? []
  if (command === undefined || prints === undefined) throw new Error(`A console block has no command:\n${code}`)
  return { kind: 'command', command, prints }
}

/** Line by line; `…` stands for anything within a line, and alone for any number of lines. */
export function printsAsExpected(printed: string, expected: string): boolean {
  const parts = expected
    .trimEnd()
    .split('\n')
    .map((line) => (line.trim() === '…' ? '[^]*' : line.trimEnd().split('…').map(RegExp.escape).join('.*')))
  return new RegExp(`^${parts.join('\n')}$`).test(printed.trimEnd().replaceAll(/[ \t]+$/gm, ''))
}
