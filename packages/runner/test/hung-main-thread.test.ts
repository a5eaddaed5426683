/** A main thread that hangs stops nothing and sends no heartbeat: runs that others may start stop themselves. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { execution } from './execution.ts'
import { eventually } from './fixture.ts'
import { isAlive } from './is-alive.ts'
import type * as tasks from './tasks/fenced.ts'

const hungMsMax = 15_000

/** Blocks this thread until `isDone`. */
function hangUntil(isDone: () => boolean): void {
  const nothing = new Int32Array(new SharedArrayBuffer(4))
  for (const end = performance.now() + hungMsMax; !isDone() && performance.now() < end;) Atomics.wait(nothing, 0, 0, 20)
}

test('while the main thread hangs, runs that other replicas may start stop by themselves; the rest continue', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'q-fenced-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const { q, store } = await execution<typeof tasks>('fenced', { threads: 5 })
  const start = async (task: keyof typeof tasks) => {
    const files = { began: join(folder, `${task}-began`), stopped: join(folder, `${task}-stopped`) }
    const run = await q.enqueue(task, files)
    await eventually(() => (existsSync(files.began) ? true : undefined), `${task} begins`)
    return { ...files, run, stoppedNow: () => existsSync(files.stopped) }
  }
  const heeding = await Promise.all((['beatsAgain', 'beatsKeyed', 'awaitsAgain'] as const).map(start))
  const alone = await start('spinsAlone')
  const on = await start('beatsOn')
  const child = Number(readFileSync(alone.began, 'utf8'))
  hangUntil(() => heeding.every(({ stoppedNow }) => stoppedNow()) && !isAlive(child))
  expect(heeding.map(({ stoppedNow }) => stoppedNow())).toEqual([true, true, true])
  for (const { stopped } of heeding) expect(readFileSync(stopped, 'utf8')).toContain('cut off from the database')
  expect(isAlive(child)).toBe(false)
  writeFileSync(on.stopped, '')
  expect(await on.run.result({ timeout: '100s' })).toBe('went on')
  const [again, keyed, awaiting] = heeding.map(({ run }) => run)
  for (const run of [again!, awaiting!, alone.run]) {
    expect(await run.result({ timeout: '100s' })).toBe('again')
    expect((await store.getTaskRun(run.id))?.run).toMatchObject({ attempt: 1, crashCount: 0 })
  }
  await expect(keyed!.result({ timeout: '100s' })).rejects.toMatchObject({ code: 'WORKER_CRASHED' })
})
