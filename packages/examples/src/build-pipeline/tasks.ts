/**
 * A compiler for one function: text with sums in it becomes a little machine code, which is linked, run and published.
 * Small, but the work is real: what each task does takes a core for a while.
 */
import { createHash } from 'node:crypto'
import { Fail, task } from '@q/task'

/** `files`: names; a real one would put what it fetched where all replicas can read it. */
export const fetch = task({ retry: { attempts: 3 } }, ({ repo, files }: { repo: string; files: number }) => ({
  files: Array.from({ length: files }, (_, n) => ({ name: `${repo}/part-${n}.sum`, text: sums(n) })),
}))

export const compile = task(({ file }: { file: { name: string; text: string } }, ctx) => {
  const terms = file.text.split(' + ')
  const code: string[] = []
  for (const [at, term] of terms.entries()) {
    ctx.heartbeat(at / terms.length)
    if (!/^\d+$/.test(term)) throw new Fail(`${file.name}: "${term}" is not a number`)
    code.push(`add ${term}`)
  }
  return { name: file.name.replace(/sum$/, 'o'), code }
})

export const link = task(({ objects }: { objects: { name: string; code: string[] }[] }) => {
  const code = objects.flatMap((object) => object.code)
  return { code, digest: createHash('sha256').update(code.join('\n')).digest('hex') }
})

export const test = task(({ code, expected }: { code: string[]; expected: number | null }, ctx) => {
  let sum = 0
  for (const [at, line] of code.entries()) {
    ctx.heartbeat(at / code.length)
    sum += Number(line.slice('add '.length))
  }
  return { sum, passed: expected === null || sum === expected }
})

export const publish = task(({ digest, sum }: { digest: string; sum: number }) => ({
  url: `https://builds.example/${digest.slice(0, 12)}`,
  sum,
}))

export const unpublish = task(({ url }: { url: string }) => ({ removed: url }))

export const announce = task(({ url }: { url: string }) => {
  if (url === '') throw new Fail('the URL is empty')
  return { announced: 3 }
})

function sums(seed: number): string {
  return Array.from({ length: 2_000 }, (_, n) => (n * 31 + seed) % 97).join(' + ')
}
