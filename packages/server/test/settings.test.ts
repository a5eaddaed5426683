/** Settings of the server: what each means, and what is refused before anything is listened to. */
import { expect, test } from 'vitest'
import { prepareServer, readHttpSettings } from '@q/server'

test('with nothing set the server listens on loopback, with a generated token', () => {
  expect(readHttpSettings({})).toEqual({ readOnly: false, badge: null })
})

test.each([
  [{ Q_HTTP_ADDRESS: '127.0.0.1' }, {}],
  [{ Q_HTTP_ADDRESS: 'localhost', Q_HTTP_PORT: '8080' }, { port: 8_080 }],
  [
    { Q_HTTP_ADDRESS: '0.0.0.0', Q_HTTP_TOKEN_FILE: '/t' },
    { address: '0.0.0.0', tokenFile: '/t' },
  ],
  [
    { Q_HTTP_ADDRESS: '::', Q_HTTP_TOKENS_FILE: '/t' },
    { address: '::', tokensFile: '/t' },
  ],
  [{ Q_HTTP_ORIGIN: 'https://q.example.com/' }, { origin: 'https://q.example.com' }],
  [{ Q_HTTP_READ_ONLY: '1' }, { readOnly: true }],
  [{ Q_HTTP_BADGE: 'production #b3261e' }, { badge: { text: 'production', color: '#b3261e' } }],
  [{ Q_HTTP_BADGE: 'my laptop' }, { badge: { text: 'my laptop', color: null } }],
])('%j is read', (env, settings) => {
  expect(readHttpSettings(env)).toEqual({ readOnly: false, badge: null, ...settings })
})

test.each([
  [{ Q_HTTP_ADDRESS: '0.0.0.0' }, 'HTTP_TOKEN_MISSING', '0.0.0.0'],
  [{ Q_HTTP_ADDRESS: '::' }, 'HTTP_TOKEN_MISSING', '::'],
  [{ Q_HTTP_ADDRESS: 'http://x' }, 'CONFIG_INVALID', 'Q_HTTP_ADDRESS'],
  [{ Q_HTTP_PORT: 'many' }, 'CONFIG_INVALID', 'Q_HTTP_PORT'],
  [{ Q_HTTP_PORT: '70000' }, 'CONFIG_INVALID', 'Q_HTTP_PORT'],
  [{ Q_HTTP_ORIGIN: 'q.example.com' }, 'CONFIG_INVALID', 'Q_HTTP_ORIGIN'],
  [{ Q_HTTP_ORIGIN: 'https://q.example.com/path' }, 'CONFIG_INVALID', 'Q_HTTP_ORIGIN'],
  [{ Q_HTTP_READ_ONLY: 'yes' }, 'CONFIG_INVALID', 'Q_HTTP_READ_ONLY'],
  [{ Q_HTTP_BADGE: 'x'.repeat(50) }, 'CONFIG_INVALID', 'Q_HTTP_BADGE'],
  [{ Q_HTTP_BADGE: 'x', Q_HTTP_PORT: '-1' }, 'CONFIG_INVALID', 'Q_HTTP_PORT'],
])('%j is refused', (env, code, said) => {
  const read = () => readHttpSettings(env)
  expect(read).toThrow(expect.objectContaining({ code }))
  expect(read).toThrow(said)
})

test('a token file that does not exist is not made for an address that others can reach', () => {
  const env = { Q_HTTP_ADDRESS: '0.0.0.0', Q_HTTP_TOKEN_FILE: '/nowhere/token' }
  expect(() => prepareServer(env)).toThrow(
    expect.objectContaining({ code: 'HTTP_TOKEN_MISSING', why: expect.stringContaining('/nowhere/token') }),
  )
})
