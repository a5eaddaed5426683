import { expect, test } from 'vitest'
import { destinationProblems } from '../src/index.ts'

const hook = {
  name: 'hook',
  kind: 'webhook',
  reports: ['status'],
  settings: { url: 'https://example.com/q', secretVariable: 'HOOK_SECRET' },
}

const withSettings = (settings: object) => destinationProblems({ ...hook, settings: { ...hook.settings, ...settings } })

test('a complete destination has no problem', () => {
  expect(destinationProblems(hook)).toEqual([])
  expect(destinationProblems({ ...hook, tasks: ['a'], statuses: ['FAILED'], everyMs: 60_000 })).toEqual([])
})

test('all mistakes are reported together', () => {
  const wrong = { name: 'a b', kind: 'webhook', reports: ['ends'], statuses: ['DONE'], everyMs: 1, color: 'red' }
  const problems = destinationProblems({ ...wrong, settings: { timeoutMs: 0 } }).join('\n')
  for (const part of ['"name"', '"ends"', '"DONE"', '"everyMs"', '"color"', '"url"', '"secretVariable"', '"timeoutMs"'])
    expect(problems).toContain(part)
  expect(destinationProblems({ ...hook, kind: 'pigeon' })).toEqual([
    '"kind" must be one of log, github, memory, webhook.',
  ])
  expect(destinationProblems([])).toHaveLength(1)
})

test('a webhook needs https, except on this machine, and an address without a password', () => {
  expect(withSettings({ url: 'http://127.0.0.1:8080/' })).toEqual([])
  expect(withSettings({ url: 'http://example.com/' })).toHaveLength(1)
  expect(withSettings({ url: 'ftp://example.com/' })).toHaveLength(1)
  expect(withSettings({ url: 'https://ada:canary@example.com/' }).join()).not.toContain('canary')
  expect(withSettings({ url: 'https://ada:canary@example.com/' })).not.toEqual([])
  expect(withSettings({ url: undefined, urlVariable: 'HOOK_URL' })).toEqual([])
})

test('a value that looks like a secret is refused and not repeated', () => {
  for (const secret of ['ghp_abcdefghijklmnop1234', 'sk-abcdefghijklmnop1234', 'Bearer abc', 'postgres://a:b@host/'])
    for (const name of ['secretVariable', 'note']) {
      const problems = withSettings({ [name]: secret }).join('\n')
      expect(problems).toContain('looks like a secret')
      expect(problems).not.toContain(secret)
    }
})
