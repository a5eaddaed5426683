/** The section of the report about the long run and its memory growth. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Soak } from '../soak/run-soak.ts'
import { lineChart } from './line-chart.ts'
import type { Section } from './measurement-section.ts'
import { digits, markdownTable } from './numbers.ts'
import { median } from './statistics.ts'

const soakFile = 'soak.json'

/** The last long run; undefined: there was none. */
export function readSoak(beside: string): Soak | undefined {
  try {
    return JSON.parse(readFileSync(join(beside, soakFile), 'utf8')) as Soak
  } catch {
    return undefined
  }
}

/** Returns the path of the file. */
export function writeSoak(beside: string, { heaps, samples }: Soak): string {
  const lines = (items: readonly unknown[]) => items.map((item) => JSON.stringify(item)).join(',\n')
  const path = join(beside, soakFile)
  writeFileSync(path, `{"heaps":[\n${lines(heaps)}\n],"samples":[\n${lines(samples)}\n]}\n`)
  return path
}

/** Megabytes by which the heaps grew over the short runs, without the first of them. */
export function heapGrowthMb({ heaps: [first, second] }: Soak): number {
  return first === undefined || second === undefined ? Number.NaN : second.heapMb - first.heapMb
}

export function soakSection(soak: Soak | undefined): Section | undefined {
  if (soak === undefined) return undefined
  const { heaps, samples } = soak
  const phases = Map.groupBy(samples, ({ phase }) => phase)
  const rows = [...phases].map(([phase, during]) => {
    const [first, last] = [during[0]!, during.at(-1)!]
    const range = (key: 'perSecond' | 'memoryMb' | 'deadTuples') => {
      const values = during.map((sample) => sample[key])
      return `${digits(median(values))} [${digits(Math.min(...values))}–${digits(Math.max(...values))}]`
    }
    const minutes = (last.atS - first.atS) / 60
    return [
      phase,
      digits(minutes),
      digits(last.runs - first.runs),
      range('perSecond'),
      range('memoryMb'),
      range('deadTuples'),
    ]
  })
  const border = phases.get('mixed load, held snapshot')?.[0]
  const chart = (key: 'perSecond' | 'memoryMb' | 'deadTuples', title: string) =>
    lineChart({
      title,
      points: samples.map((sample) => ({ x: sample.atS, y: sample[key] })),
      ...(border && { border: { x: border.atS, label: 'mixed load, held snapshot' } }),
    })
  const plots = {
    'soak-throughput.svg': chart('perSecond', 'Runs per second'),
    'soak-memory.svg': chart('memoryMb', 'Memory of the replica, MB'),
    'soak-dead-tuples.svg': chart('deadTuples', 'Dead tuples of q.task_run'),
  }
  const text = [
    '## The long run',
    '`pnpm bench:soak`: short runs one after the other, then a mixed load (no-op, 2.2 ms and 22 ms, both kinds of `onCrash`) while a session holds a snapshot, so that PostgreSQL cannot remove dead tuples.',
    markdownTable(['phase', 'minutes', 'runs', 'runs/s', 'memory, MB', 'dead tuples'], rows),
    'The memory of the replica includes the garbage that V8 has not collected yet. After a collection in all of its threads, their heaps use:',
    markdownTable(
      ['after runs', 'heaps, MB'],
      heaps.map(({ runs, heapMb }) => [digits(runs), digits(heapMb)]),
    ),
    Object.keys(plots)
      .map((file) => `![${file}](benchmarks/${file})`)
      .join('\n'),
  ].join('\n\n')
  return { text, plots }
}
