import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { workspace } from '../workspace.ts'
import { leaksSince, resources } from './leaks.ts'

test.runIf(process.platform === 'linux')(
  'a test file that leaves a thread, a child process, a socket or a timer behind fails, and each is named',
  async () => {
    const root = join(workspace, 'scripts/test/leaky')
    const env = { ...process.env, Q_TEST_ENDING_MS: '0' }
    const ran: { stdout: string; stderr: string; code?: number } = await promisify(execFile)(
      process.execPath,
      ['--conditions=@q/source', join(workspace, 'node_modules/vitest/vitest.mjs'), 'run', '--root', root],
      { env },
    ).catch((error) => error)
    const printed = stripVTControlCharacters(ran.stdout + ran.stderr)
    const [, pid] = /child process (\d+): sleep 600\.25/.exec(printed) ?? []
    if (pid !== undefined) process.kill(Number(pid), 'SIGKILL')
    expect(printed).toMatch(/left behind:\s+thread \d+ .*\s+child process \d+: sleep 600\.25\s+/)
    for (const kind of ['TCPServerWrap', 'Timeout']) expect(printed).toContain(kind)
    expect(printed).toMatch(/Tests +1 passed/)
    expect(ran.code).toBe(1)
  },
)

test('the leak check waits for resources that are ending', async () => {
  const before = resources()
  const timer = setTimeout(() => {}, 50)
  expect(resources()).not.toEqual(before)
  expect(await leaksSince(before)).toEqual([])
  clearTimeout(timer)
})
