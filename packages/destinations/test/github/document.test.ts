import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { destinationKinds } from '../../src/index.ts'
import { heartbeatText, recoveryText } from '../../src/github/comment-texts.ts'
import { heartbeatData, recovery } from './destination.ts'

const document = await readFile(new URL('../../../../docs/how-to/github.md', import.meta.url), 'utf8')
const blocks = (language: string): string[] =>
  [...document.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)\\n\`\`\`$`, 'gm'))].map(([, text = '']) => text)

test('the destination in docs/how-to/github.md has no problems', () => {
  const [declared = ''] = blocks('json')
  const { kind, settings } = JSON.parse(declared) as { kind: string; settings: Record<string, unknown> }
  expect(destinationKinds[kind]?.problemsOf(settings)).toEqual([])
})

test('docs/how-to/github.md shows the comments that the destination writes', () => {
  const report = recovery()
  if (report.kind !== 'recovery') throw new Error('not a recovery')
  expect(blocks('markdown')).toEqual([
    recoveryText('worker-local-1', report.payload, 'removed'),
    heartbeatText('worker-local-1', heartbeatData),
  ])
})
