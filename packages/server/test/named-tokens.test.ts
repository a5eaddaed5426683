import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { addNamedToken } from '@q/server'
import { namedTokens, readNamedTokens } from '../src/auth/named-tokens.ts'

function fileWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'q tokens '))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'tokens')
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

const digest = 'a'.repeat(64)

test.each([
  ['a last line without its end', `old read ${digest}`, ['old', 'new']],
  ['complete lines', `old read ${digest}\n`, ['old', 'new']],
  ['no line', '', ['new']],
])('a token is added to a file with %s', (_, text, names) => {
  const path = fileWith(text)
  addNamedToken(path, { name: 'new', scope: 'read' })
  expect(namedTokens(path).map(({ name }) => name)).toEqual(names)
})

test.each(['reader', 'owner'])(
  'a second token named %s is refused: a session of it would have the rights of the first',
  (name) => {
    const path = fileWith(`reader admin ${digest}\n# a comment\n${name} read ${'b'.repeat(64)}\n`)
    expect(() => readNamedTokens(path)).toThrow(
      expect.objectContaining({
        code: 'TOKENS_FILE_INVALID',
        message: `Line 3 of ${path} repeats the name "${name}".`,
      }),
    )
  },
)
