/** The code of a document, block by block: a block that begins with `// name.ts: …` is that file. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { workspace } from '../workspace.ts'

export async function documentFiles(document: string): Promise<Map<string, string>> {
  const text = await readFile(join(workspace, document), 'utf8')
  const blocks = [...text.matchAll(/^```ts\n(\/\/ (\S+\.ts): [^]*?)^```/gm)]
  return new Map(blocks.map(([, code = '', name = '']) => [name, code]))
}
