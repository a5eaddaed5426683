/** The section of the report about the long run. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SoakSample } from '../soak/run-soak.ts'
import { lineChart } from './line-chart.ts'
import type { Section } from './measurement-section.ts'
import { digits, markdownTable } from './numbers.ts'
import { median } from './statistics.ts'

export const soakFile = 'soak.json'

/** The samples of the last long run; empty: there was none. */
export function readSoak(beside: string): SoakSample[] {
  try {
    return JSON.parse(readFileSync(join(beside, soakFile), 'utf8')) as SoakSample[]
  } catch {
    return []
  }
}

export function soakSection(samples: readonly SoakSample[]): Section | undefined {
  if (samples.length === 0) return undefined
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
    'The memory includes garbage that V8 has not collected; [Growth of the heaps](#growth-of-the-heaps) shows what remains after a collection.',
    Object.keys(plots)
      .map((file) => `![${file}](benchmarks/${file})`)
      .join('\n'),
  ].join('\n\n')
  return { text, plots }
}
