/** A build, as tasks; only their types are imported by most tests. */
import { task, type MissingResult } from '@q/client'
import { z } from 'zod'

export const fetch = task(({ repo, commit }: { repo: string; commit?: string }) => ({
  files: [`${repo}/a.c`, `${repo}/b.c`],
  commit: commit ?? null,
  license: undefined as string | undefined,
  pair: ['a', 1] as [string, number],
  owner: { name: repo } as { name: string } | null,
}))
export const compile = task({ input: z.object({ file: z.string() }) }, ({ file }) => ({
  object: `${file}.o`,
  bytes: 3,
}))
export const link = task(({ objects }: { objects: { object: string }[] }) => ({ path: `/${objects.length}` }))
export const test = task(({ binary }: { binary: string }) => ({
  passed: binary !== '',
  coverage: 80,
  kind: 'unit' as 'unit' | 'all',
}))
export const publish = task(({ binary }: { binary: string; report?: { passed: boolean } }) => ({
  url: `https:${binary}`,
}))
export const unpublish = task(({ url }: { url: string; tested?: { passed: boolean } | MissingResult }) => ({
  gone: url,
}))
export const report = task(
  (payload: { tested: { passed: boolean } | MissingResult; note: string }) => Object.keys(payload).length,
)
