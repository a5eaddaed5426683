import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { EmbeddedError, type EmbeddedOptions, startEmbedded } from '../src/index.ts'
import { isRoot, scratch, until } from './scratch.ts'

/** A stopped database that the tests break, and put right again. */
const dataDir = join(scratch(), 'db')
const inCluster = (...names: string[]): string => join(dataDir, 'cluster', ...names)
let password: string

beforeAll(async () => {
  const server = await startEmbedded({ dataDir, durable: false })
  password = new URL(server.url).password
  await server.close()
})

/** What a person gets to read; never the password. */
async function complaint(options: EmbeddedOptions): Promise<EmbeddedError> {
  const error = await startEmbedded({ durable: false, ...options }).then(
    () => new Error('it started'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof EmbeddedError)) throw error
  expect(`${error.message} ${error.why} ${error.fix} ${error.stack}`).not.toContain(password)
  for (const text of [error.message, error.why, error.fix]) expect(text).not.toBe('')
  return error
}

function broken(file: string, content: string): void {
  const whole = readFileSync(file)
  onTestFinished(() => writeFileSync(file, whole))
  writeFileSync(file, content)
}

test('a path that leads through a file is DATA_DIR_UNWRITABLE', async () => {
  const file = join(scratch(), 'file')
  writeFileSync(file, '')
  expect(await complaint({ dataDir: join(file, 'db') })).toMatchObject({ code: 'DATA_DIR_UNWRITABLE' })
})

test.skipIf(isRoot)('a directory closed for writing is DATA_DIR_UNWRITABLE (nothing is closed to root)', async () => {
  const closed = scratch()
  chmodSync(closed, 0o555)
  expect(await complaint({ dataDir: join(closed, 'db') })).toMatchObject({ code: 'DATA_DIR_UNWRITABLE' })
  expect(await complaint({ dataDir: closed })).toMatchObject({ code: 'DATA_DIR_UNWRITABLE' })
})

test('a directory that the database user cannot enter is DATA_DIR_NOT_ENTERABLE, and the closed one is named', async () => {
  const closed = scratch()
  mkdirSync(join(closed, 'db'))
  chmodSync(closed, isRoot ? 0o700 : 0o600)
  onTestFinished(() => chmodSync(closed, 0o711))
  const error = await complaint({ dataDir: isRoot ? join(closed, 'db') : closed })
  expect(error.code).toBe('DATA_DIR_NOT_ENTERABLE')
  expect(error.fix).toContain(`chmod o+x ${closed})`)
})

test('a directory with other files in it is DATA_DIR_NOT_A_CLUSTER, and they are not touched', async () => {
  const full = scratch()
  writeFileSync(join(full, 'thesis.tex'), 'ten years')
  mkdirSync(join(full, 'data'))
  expect(await complaint({ dataDir: full })).toMatchObject({
    code: 'DATA_DIR_NOT_A_CLUSTER',
    why: expect.stringContaining('thesis.tex'),
  })
  expect(readdirSync(full).toSorted()).toEqual(['data', 'thesis.tex'])
})

test('a directory called cluster that is not one of ours is DATA_DIR_NOT_A_CLUSTER', async () => {
  const full = scratch()
  mkdirSync(join(full, 'cluster'))
  if (isRoot) chownSync(join(full, 'cluster'), 65_534, 65_534)
  expect(await complaint({ dataDir: full })).toMatchObject({ code: 'DATA_DIR_NOT_A_CLUSTER' })
})

test('data whose password is gone is DATA_DIR_FOREIGN', async () => {
  const whole = readFileSync(inCluster('password'))
  rmSync(inCluster('password'))
  const error = await complaint({ dataDir })
  writeFileSync(inCluster('password'), whole, { mode: 0o600 })
  expect(error.code).toBe('DATA_DIR_FOREIGN')
})

test('a running server that refuses the password beside its data is DATA_DIR_FOREIGN', async () => {
  const server = await startEmbedded({ dataDir, durable: false })
  broken(inCluster('password'), 'another-password\n')
  const error = await complaint({ dataDir })
  await server.close()
  expect(error.code).toBe('DATA_DIR_FOREIGN')
})

test.skipIf(!isRoot)('data of another user is DATA_DIR_FOREIGN (only root can change its owner)', async () => {
  const given = scratch()
  mkdirSync(join(given, 'cluster'))
  expect(await complaint({ dataDir: given })).toMatchObject({ code: 'DATA_DIR_FOREIGN' })
})

test('data of another major version is DATA_VERSION', async () => {
  broken(inCluster('data', 'PG_VERSION'), '17\n')
  expect(await complaint({ dataDir })).toMatchObject({ code: 'DATA_VERSION', fix: expect.stringContaining('17') })
})

test('a platform without binaries is PLATFORM_UNSUPPORTED', async () => {
  const arch = Object.getOwnPropertyDescriptor(process, 'arch') ?? {}
  onTestFinished(() => void Object.defineProperty(process, 'arch', arch))
  Object.defineProperty(process, 'arch', { ...arch, value: 'mips' })
  expect(await complaint({ dataDir })).toMatchObject({ code: 'PLATFORM_UNSUPPORTED' })
})

test('a server that refuses to run is SERVER_DID_NOT_START, with the last lines of its log', async () => {
  const config = inCluster('data', 'postgresql.conf')
  broken(config, readFileSync(config, 'utf8'))
  appendFileSync(config, `\nno_such_setting = '${password}'\nwork_mem = 'a lot of ${password}'\n`)
  const error = await complaint({ dataDir })
  expect(error.code).toBe('SERVER_DID_NOT_START')
  expect(error.why).toMatch(/no_such_setting/)
})

test('a server that does not get ready in time is SERVER_DID_NOT_START', async () => {
  const server = await startEmbedded({ dataDir, durable: false })
  const state = readFileSync(inCluster('data', 'postmaster.pid'), 'utf8')
  writeFileSync(inCluster('data', 'postmaster.pid'), state.replace(/^ready +$/m, 'starting'))
  const error = await complaint({ dataDir, startTimeoutMs: 200 })
  writeFileSync(inCluster('data', 'postmaster.pid'), state)
  expect(error).toMatchObject({ code: 'SERVER_DID_NOT_START', why: 'It is still starting.' })
  expect(await server.close()).toBe('stopped')
})

test.skipIf(!isRoot)(
  'a full disk is DISK_FULL, for a new database and for an old one (only root can mount one)',
  async ({ skip }) => {
    const small = mounted('20m') ?? skip('root may not mount a tmpfs here')
    expect(await complaint({ dataDir: join(small, 'db') })).toMatchObject({ code: 'DISK_FULL' })

    const larger = mounted('120m') ?? skip('root may not mount a tmpfs here')
    const server = await startEmbedded({ dataDir: join(larger, 'db'), durable: false })
    await server.close()
    expect(() => writeFileSync(join(larger, 'ballast'), Buffer.alloc(120 * 1024 * 1024))).toThrow(/ENOSPC/)
    expect(await complaint({ dataDir: join(larger, 'db') })).toMatchObject({ code: 'DISK_FULL' })
    rmSync(join(larger, 'ballast'))
    const again = await startEmbedded({ dataDir: join(larger, 'db'), durable: false })
    expect(await again.close()).toBe('stopped')
  },
)

function mounted(size: string): string | undefined {
  const dir = scratch()
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=711`, 'tmpfs', dir])
  if (mount.status !== 0) return undefined
  // The log collector of a stopped server outlives it and keeps the file system busy until it has written its last line.
  onTestFinished(() => until(() => spawnSync('umount', [dir]).status === 0))
  return dir
}
