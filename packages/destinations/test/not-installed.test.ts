import { execFile } from 'node:child_process'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { memoryFile } from './memory/memory-destination.ts'

const packages = fileURLToPath(new URL('../..', import.meta.url))

const program = `
import { destinationKinds } from './src/index.ts'
const settings = { memory: { file: '/tmp/memory.jsonl', command: ['true'] }, github: {} }
const missing = []
for (const [kind, given] of Object.entries(settings))
  await destinationKinds[kind].open({ settings: given }).catch(({ code, fix }) => missing.push({ code, fix }))
console.log(JSON.stringify(missing))
`

test('without the MCP client and Octokit everything else works, and a destination that needs them says how to install them', async () => {
  const folder = dirname(await memoryFile())
  await cp(join(packages, 'destinations/src'), join(folder, 'src'), { recursive: true })
  await mkdir(join(folder, 'node_modules/@q'), { recursive: true })
  await symlink(join(packages, 'schema'), join(folder, 'node_modules/@q/schema'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(join(folder, 'open.ts'), program)
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=@q/source', 'open.ts'], { cwd: folder })
  expect(JSON.parse(stdout)).toEqual([
    {
      code: 'MEMORY_CLIENT_MISSING',
      fix: expect.stringContaining('npm install @modelcontextprotocol/client @modelcontextprotocol/server-memory'),
    },
    {
      code: 'GITHUB_CLIENT_MISSING',
      fix: expect.stringContaining('npm install @octokit/core @octokit/plugin-retry @octokit/plugin-throttling'),
    },
  ])
})
