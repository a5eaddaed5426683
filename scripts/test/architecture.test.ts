/** ARCHITECTURE.md tours every file of the core packages: under a heading with its folder, by its name without `.ts`. */
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { workspace } from '../workspace.ts'

const tour = await readFile(join(workspace, 'ARCHITECTURE.md'), 'utf8')
const sections = new Map(
  [...tour.matchAll(/^### `([^`]+)`\n([^]*?)(?=^##|$(?![^]))/gm)].map(([, folder = '', text = '']) => [folder, text]),
)

/** Looks in the section of the nearest folder above that has one. */
function isInTour(path: string): boolean {
  const parts = path.replace(/\.ts$/, '').split('/')
  for (let length = parts.length - 1; length > 0; length--) {
    const section = sections.get(parts.slice(0, length).join('/'))
    if (section !== undefined) return section.includes(`\`${parts.slice(length).join('/')}\``)
  }
  return false
}

/** Names in the tour that are not files. */
const otherNames = new Set(['time', 'concurrency', 'task', 'ctx', 'tx'])

test('every file of the core packages is in the tour', async () => {
  const missing: string[] = []
  for await (const path of glob('packages/{schema,store,task,client,runner}/src/**/*.ts', { cwd: workspace })) {
    if (!isInTour(path)) missing.push(path)
  }
  expect(missing.toSorted()).toEqual([])
})

test('every file in the tour exists', async () => {
  const missing: string[] = []
  for (const [folder, text] of sections) {
    const files = new Set<string>()
    for await (const path of glob(`${folder}/**/*.{ts,tsx}`, { cwd: workspace })) {
      files.add(path.slice(folder.length + 1).replace(/\.tsx?$/, ''))
    }
    const named = [...text.matchAll(/`([a-z][a-z0-9/-]*[a-z0-9])`/g)].map(([, name = '']) => name)
    missing.push(
      ...named.filter((name) => !files.has(name) && !otherNames.has(name)).map((name) => `${folder}/${name}`),
    )
  }
  expect(missing).toEqual([])
})

test('every folder in the tour exists', async () => {
  for (const folder of sections.keys()) {
    expect([folder, (await Array.fromAsync(glob(`${folder}/*.ts`, { cwd: workspace }))).length]).not.toEqual([
      folder,
      0,
    ])
  }
})

test('a file that no section names is missing', () => {
  expect(isInTour('packages/store/src/runs/claim.ts')).toBe(true)
  expect(isInTour('packages/store/src/runs/unheard-of.ts')).toBe(false)
})
