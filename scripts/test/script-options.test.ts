/** Every script of the workspace names its options, and refuses wrong ones before it starts anything. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readScriptOptions } from '@q/schema/script-options'
import { workspace } from '../workspace.ts'

const { scripts } = JSON.parse(await readFile(join(workspace, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<string, string>>
}
const files: readonly (readonly [name: string, file: string])[] = [
  ...Object.entries(scripts).flatMap(([name, line]) => {
    const [, file] = /node --conditions=@q\/source (\S+\.ts)$/.exec(line) ?? []
    return file === undefined ? [] : [[name, file] as const]
  }),
  ['bench', 'packages/bench/src/bench.ts'],
  ['bench:soak', 'packages/bench/src/soak.ts'],
  ...['check-words', 'check-boundaries', 'packed-consumer', 'ship-migrations'].map(
    (name) => [name, `scripts/${name}.ts`] as const,
  ),
]

async function run(file: string, args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const { promise, resolve } = Promise.withResolvers<{ code: number; stdout: string; stderr: string }>()
  execFile(process.execPath, ['--conditions=@q/source', file, ...args], { cwd: workspace }, (error, stdout, stderr) =>
    resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
  )
  return promise
}

test.each(files)('pnpm %s --help prints its usage, and an unknown option is a usage error', async (name, file) => {
  const help = await run(file, ['--help'])
  expect(help).toEqual({ code: 0, stdout: expect.stringContaining(`Usage: pnpm ${name}`) as string, stderr: '' })
  const wrong = await run(file, ['--no-such-option'])
  expect(wrong).toMatchObject({ code: 2, stdout: '' })
  expect(wrong.stderr).toMatch(/^Unknown option '--no-such-option'\.\n\nUsage: pnpm /)
})

test('the list of scripts is not empty', () => {
  expect(files.map(([name]) => name)).toEqual(expect.arrayContaining(['chaos:kill', 'test', 'spin', 'fill:large']))
})

const options = {
  kills: { number: 20, least: 1, most: 99, means: 'kills' },
  part: { number: 1, fraction: true, means: 'part' },
  preset: { text: 'default', oneOf: ['default', 'fast'], means: 'preset' },
  quick: { flag: true, means: 'quick' },
} as const

test.each([
  ['', { kills: 20, part: 1, preset: 'default', quick: false }],
  ['-- --kills 3 --part 0.5 --preset fast --quick', { kills: 3, part: 0.5, preset: 'fast', quick: true }],
])('the arguments "%s" are read', (line, values) => {
  expect(readScriptOptions(options, line.split(' ').filter(Boolean))).toEqual({ values })
})

test.each([
  ['--kills abc', '--kills cannot be "abc": it takes a whole number from 1 to 99.'],
  ['--kills 0', '--kills cannot be "0": it takes a whole number from 1 to 99.'],
  ['--kills 1.5', '--kills cannot be "1.5": it takes a whole number from 1 to 99.'],
  ['--part=', '--part cannot be "": it takes a number of at least 0.'],
  ['--preset slow', '--preset cannot be "slow": it takes one of default, fast.'],
  ['--quick=yes', "Option '--quick' does not take an argument."],
  ['more', "Unexpected argument 'more'."],
])('the arguments "%s" are refused', (line, problem) => {
  expect(readScriptOptions(options, line.split(' '))).toEqual({ problem })
})
