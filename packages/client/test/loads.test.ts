import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

function loadedBy(module: string): string[] {
  const program = fileURLToPath(new URL('./loaded-modules.ts', import.meta.url))
  const said = execFileSync(process.execPath, ['--conditions=@q/source', program, module], { encoding: 'utf8' })
  return JSON.parse(said) as string[]
}

test('a producer loads no Piscina, no runner, no task code, and no schema validator before it needs one', () => {
  const loaded = loadedBy('@q/client')
  expect(loaded.filter((url) => url.includes('/client/src/queue.ts'))).toHaveLength(1)
  expect(loaded.filter((url) => /node_modules\/(piscina|ajv|zod)\/|packages\/runner\//.test(url))).toEqual([])
  const producer = loadedBy(new URL('./producer.ts', import.meta.url).href)
  expect(producer.filter((url) => /\/test\/tasks\.ts|node_modules\/zod\//.test(url))).toEqual([])
})
