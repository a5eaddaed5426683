/** A build, as tasks. What is called broken makes its task fail. */
import { task, type MissingResult } from '@q/client'
import { z } from 'zod'

export const fetch = task(({ repo, commit }: { repo: string; commit?: string }) => ({
  files: [`${usable(repo)}/a.c`, `${repo}/b.c`],
  commit: commit ?? null,
  license: undefined as string | undefined,
  pair: ['a', 1] as [string, number],
  owner: { name: repo } as { name: string } | null,
}))
export const compile = task({ input: z.object({ file: z.string() }) }, ({ file }) => ({
  object: `${usable(file)}.o`,
  bytes: 3,
}))
export const link = task(({ objects }: { objects: { object: string }[] }) => ({
  path: objects.map(({ object }) => object).join('+'),
}))
export const test = task(({ binary }: { binary: string }) => ({
  passed: usable(binary) !== '',
  coverage: 80,
  kind: 'unit' as 'unit' | 'all',
}))
export const publish = task(({ binary }: { binary: string; report?: { passed: boolean } }) => ({
  url: `https://${usable(binary)}`,
}))
export const unpublish = task(({ url }: { url: string; tested?: { passed: boolean } | MissingResult }) => ({
  gone: url,
}))
export const report = task((payload: { tested: { passed: boolean } | MissingResult; note: string }) => payload)

function usable(name: string): string {
  if (name.includes('broken')) throw new Error(`${name} is broken`)
  return name
}
