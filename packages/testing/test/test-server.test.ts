import { afterEach, expect, test, vi } from 'vitest'
import { testServer } from '@q/testing'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.doUnmock('@q/embedded')
})

test('a server of your own is used as it is, and needs no binaries of ours', async () => {
  vi.doMock('@q/embedded', notInstalled)
  vi.stubEnv('Q_TEST_SERVER_URL', undefined)
  vi.stubEnv('Q_TEST_DATABASE_URL', 'postgresql://somebody@127.0.0.1:1/postgres')
  expect(await testServer()).toMatchObject({ url: 'postgresql://somebody@127.0.0.1:1/postgres' })
})

test('without one and without @q/embedded the error says what to do, and DATABASE_URL is not taken instead', async () => {
  vi.doMock('@q/embedded', notInstalled)
  for (const name of ['Q_TEST_SERVER_URL', 'Q_TEST_DATABASE_URL']) vi.stubEnv(name, undefined)
  vi.stubEnv('DATABASE_URL', 'postgresql://somebody@127.0.0.1:1/production')
  await expect(testServer()).rejects.toMatchObject({
    code: 'TEST_SERVER_MISSING',
    fix: expect.stringContaining('Q_TEST_DATABASE_URL'),
  })
})

function notInstalled(): never {
  throw new Error('Cannot find package @q/embedded')
}
