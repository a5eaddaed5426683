import { afterEach, expect, test, vi } from 'vitest'
import { testServer } from '@q/testing'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.doUnmock('@q/embedded')
})

test('an external server is used as it is, without @q/embedded', async () => {
  vi.doMock('@q/embedded', notInstalled)
  vi.stubEnv('Q_TEST_SERVER_URL', undefined)
  vi.stubEnv('Q_TEST_DATABASE_URL', 'postgresql://someone@127.0.0.1:1/postgres')
  expect(await testServer()).toMatchObject({ url: 'postgresql://someone@127.0.0.1:1/postgres' })
})

test('without a server and @q/embedded the error says what to do, and DATABASE_URL is not used', async () => {
  vi.doMock('@q/embedded', notInstalled)
  for (const name of ['Q_TEST_SERVER_URL', 'Q_TEST_DATABASE_URL']) vi.stubEnv(name, undefined)
  vi.stubEnv('DATABASE_URL', 'postgresql://someone@127.0.0.1:1/production')
  await expect(testServer()).rejects.toMatchObject({
    code: 'TEST_SERVER_MISSING',
    fix: expect.stringContaining('Q_TEST_DATABASE_URL'),
  })
})

function notInstalled(): never {
  throw new Error('Cannot find package @q/embedded')
}
