import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'

const programs = 3
const files = 300

/** Makes each file at the same time as the other programs, and posts the tokens. */
const program = `
  const { parentPort, workerData: { module, folder, gates, programs, files } } = await import('node:worker_threads')
  const { readOrMakeToken } = await import(module)
  const tokens = []
  for (let file = 0; file < files; file++) {
    Atomics.add(gates, file, 1)
    while (Atomics.load(gates, file) < programs);
    tokens.push(readOrMakeToken(folder + '/' + file))
  }
  parentPort.postMessage(tokens)`

test('programs that start at the same time use one token, and leave no other file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'q tokens '))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const gates = new Int32Array(new SharedArrayBuffer(files * Int32Array.BYTES_PER_ELEMENT))
  const module = new URL('../src/auth/token-file.ts', import.meta.url).href
  const started = Array.from({ length: programs }, async () => {
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`), {
      execArgv: ['--conditions=@q/source'],
      workerData: { module, folder, gates, programs, files },
    })
    onTestFinished(async () => void (await worker.terminate()))
    const { promise, resolve, reject } = Promise.withResolvers<string[]>()
    worker.on('message', resolve).on('error', reject)
    return promise
  })
  const [first, ...others] = await Promise.all(started)
  for (const tokens of others) expect(tokens).toEqual(first)
  expect(readdirSync(folder)).toHaveLength(files)
})
