/** The files that a browser loads, as the build writes them: everything together stays small enough for a slow line. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { buildPage } from '../build.ts'

const scriptsMax = 150_000
const stylesMax = 15_000

test('all scripts of the page are at most 150 kB and all styles at most 15 kB, compressed', async () => {
  const outDir = mkdtempSync(join(tmpdir(), 'q-built-size-'))
  try {
    await buildPage({ outDir })
    const files = readdirSync(outDir, { recursive: true, encoding: 'utf8' })
    const compressed = (end: string) =>
      files
        .filter((file) => file.endsWith(end))
        .reduce((sum, file) => sum + gzipSync(readFileSync(join(outDir, file))).length, 0)
    const [scripts, styles] = [compressed('.js'), compressed('.css')]
    // An empty build would pass the limits.
    expect(scripts).toBeGreaterThan(50_000)
    expect(scripts).toBeLessThanOrEqual(scriptsMax)
    expect(styles).toBeGreaterThan(1_000)
    expect(styles).toBeLessThanOrEqual(stylesMax)
  } finally {
    rmSync(outDir, { recursive: true, force: true })
  }
})
