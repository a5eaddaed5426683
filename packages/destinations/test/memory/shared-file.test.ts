/** Several writers of one file: the server loses updates that overlap, so they write one after the other. */
import { readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openMemory } from '../../src/memory/index.ts'
import { createFileLock } from '../../src/memory/file-lock.ts'
import { memoryDestination, memoryFile, relay } from './memory-destination.ts'
import { alert, recovery } from './reports.ts'

const at = 1_704_067_200_000
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

test('two destinations and a command that write one file at the same time lose nothing: one call is in flight', async () => {
  const { command, log } = await relay()
  const one = await memoryDestination({ command })
  const two = await memoryDestination({ command, file: one.file })
  const memory = await openMemory({ file: one.file, command })
  onTestFinished(() => memory.close())
  const results = await Promise.all(
    numbers(6).flatMap((n) => [
      one.sender.send([recovery(`1-${n}`, at), alert('a', at + n)]),
      two.sender.send([recovery(`2-${n}`, at), alert('b', at + n)]),
      memory.put(`note-${n}`, 'kept').then(() => [{ kind: 'delivered' }]),
    ]),
  )
  expect(new Set(results.flat().map(({ kind }) => kind))).toEqual(new Set(['delivered']))
  const found = await one.content()
  expect(found[`task-sentinel/metrics/lock-recoveries/${at}`]).toHaveLength(12)
  for (const worker of ['a', 'b']) expect(found[`task-sentinel/workers/${worker}/heartbeat-failures`]).toHaveLength(6)
  expect(Object.keys(found).filter((name) => name.startsWith('note-'))).toHaveLength(6)
  const lines = await log()
  expect(lines.every((line, index) => line.startsWith(index % 2 === 0 ? 'call' : 'answer'))).toBe(true)
  expect(await readdir(dirname(one.file))).toEqual(['memory.jsonl'])
})

test('the lock of a dead process is taken over once it has not been renewed for a while', async () => {
  const file = await memoryFile()
  await writeFile(`${file}.q-lock`, 'of a dead process')
  const lock = createFileLock(file, { staleMs: 50 })
  expect(await lock.during(async () => 'done')).toBe('done')
  expect(await readdir(dirname(file))).toEqual([])
})

test('the stale lock that many programs wait for is taken over by one, and the others follow one after the other', async () => {
  const file = await memoryFile()
  await writeFile(`${file}.q-lock`, 'of a dead process')
  let holders = 0
  let most = 0
  const waiting = numbers(24).map(() =>
    createFileLock(file, { staleMs: 2_000, waitMsMax: 60_000 }).during(async () => {
      most = Math.max(most, ++holders)
      await stat(`${file}.q-lock`)
      holders--
    }),
  )
  await Promise.all(waiting)
  expect(most).toBe(1)
})

test('a living holder renews its lock, and keeps it until its work is done', async () => {
  const file = await memoryFile()
  const [first, second] = [createFileLock(file, { staleMs: 80 }), createFileLock(file, { staleMs: 60_000 })]
  const order: string[] = []
  const started = Promise.withResolvers<void>()
  const renewedMs = async () => (await stat(`${file}.q-lock`)).mtimeMs
  const long = first.during(async () => {
    const takenMs = await renewedMs()
    started.resolve()
    await expect.poll(renewedMs).toBeGreaterThan(takenMs)
    order.push('first')
  })
  await started.promise
  await second.during(async () => void order.push('second'))
  await long
  expect(order).toEqual(['first', 'second'])
})

test('a holder that was stopped for so long that another one took the lock over makes no further call', async () => {
  const file = await memoryFile()
  const lock = createFileLock(file, { staleMs: 60_000 })
  await lock.during(async () => {
    await lock.requireHeld()
    await writeFile(`${file}.q-lock`, 'of another process')
    await expect(lock.requireHeld()).rejects.toThrow('took over')
    await lock.renew()
    await expect(lock.requireHeld()).rejects.toThrow('took over')
  })
  // It leaves the lock of the other one alone.
  expect(await readdir(dirname(file))).toEqual(['memory.jsonl.q-lock'])
})

test('a writer that waits too long for the lock, or is closed, makes no call', async () => {
  const file = await memoryFile()
  await writeFile(`${file}.q-lock`, 'of another process')
  const renewing = setInterval(() => void utimes(`${file}.q-lock`, new Date(), new Date()).catch(() => {}), 10)
  onTestFinished(() => clearInterval(renewing))
  const patient = createFileLock(file, { staleMs: 5_000, waitMsMax: 100 })
  await expect(patient.during(async () => {})).rejects.toMatchObject({ notTried: true })
  const closing = createFileLock(file, { staleMs: 5_000 })
  const waiting = closing.during(async () => {})
  closing.close()
  await expect(waiting).rejects.toThrow('closed')
})

test('without a folder to put the lock into, the work is done: the server reports what is wrong', async () => {
  const file = await memoryFile()
  await rm(dirname(file), { recursive: true })
  expect(await createFileLock(file).during(async () => 'done')).toBe('done')
})
