/** Programs that runs have started: their use counts, and they end with the runner. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { processUse } from '../src/main/executors/process-tree.ts'
import { eventually } from './fixture.ts'
import { programs } from './programs.ts'
import { onThreads } from './executor-scene.ts'

/** Node evaluates the code, in a shell of its own; resolves when it has printed a line. */
async function started(code: string): Promise<void> {
  const script = `${JSON.stringify(process.execPath)} -e ${JSON.stringify(code)}; exit`
  const child = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(async () => {
    child.stdin.end()
    await once(child, 'close')
  })
  await once(child.stdout, 'data')
}

const burns =
  'for (let at = 0, cpu; (cpu = process.cpuUsage()).user + cpu.system < 300_000; ) for (at = 0; at < 1e6; at++);'
const untilClosed = "process.stdin.on('end', () => process.exit()).resume(); console.log('ready')"

describe.runIf(process.platform === 'linux')('a program that a run started', () => {
  test('counts with its memory and its CPU time, and so does a program that it started', async () => {
    const before = processUse()
    await started(`globalThis.ballast = Buffer.alloc(200 << 20, 1); ${burns} ${untilClosed}`)
    const { cpuMs, memoryMb } = processUse()
    expect(memoryMb - before.memoryMb).toBeGreaterThan(150)
    expect(cpuMs - before.cpuMs).toBeGreaterThan(250)
  })

  test('counts with its CPU time after its end', async () => {
    const before = processUse()
    const child = spawn(process.execPath, ['-e', burns])
    await once(child, 'exit')
    expect(processUse().cpuMs - before.cpuMs).toBeGreaterThan(250)
  })

  test('is ended when the threads are closed, although a thread waits for it', async () => {
    const { send, close } = onThreads('stubborn')
    const seconds = 600 + Math.random()
    const { report } = send('naps', { payload: { seconds } })
    await eventually(() => programs(`sleep ${seconds}`)[0], 'the program')
    await close()
    expect(programs(`sleep ${seconds}`)).toEqual([])
    expect(await report).not.toMatchObject({ ended: 'returned' })
  })

  test('is ended when the process exits, for any reason', async () => {
    const seconds = 600 + Math.random()
    const program = fileURLToPath(new URL('exits-program.ts', import.meta.url))
    const child = spawn(process.execPath, ['--conditions=@q/source', program, String(seconds)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    await eventually(() => programs(`sleep ${seconds}`)[0], 'the program')
    child.send('exit')
    expect(await once(child, 'exit')).toEqual([7, null])
    await eventually(() => (programs(`sleep ${seconds}`).length === 0 ? true : undefined), 'the end of the program')
  })
})
