/** What a run leaves behind is nobody else's: not its thread's next run, not its slot's, not its child's. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { onThreads } from './workplace-scene.ts'

test('a thread that dies before it has taken the run that was sent to it costs that run nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'q-leftovers-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'now')
  const { send } = onThreads('leftovers')
  const before = await send('diesBehind', { payload: { file } }).result()
  const next = send('where')
  writeFileSync(file, '')
  expect(await next.result()).not.toMatchObject({ threadId: before })
})
