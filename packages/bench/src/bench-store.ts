/** Every scenario once per round, the rounds one after the other, so that a slow minute of the machine hits them all. */
import { scenarios, type Bench, type Scenario } from './scenarios.ts'
import type { Spent } from './server-meter.ts'

export interface Figure {
  readonly scenario: string
  /** Per run: median, least and most of the rounds. */
  readonly cpuUs: readonly [median: number, least: number, most: number]
  readonly walBytes: readonly [median: number, least: number, most: number]
  readonly aim: Spent | null
}

export async function benchStore(
  bench: Bench,
  { rounds, onProgress = () => {} }: { rounds: number; onProgress?: (line: string) => void },
): Promise<Figure[]> {
  const spent = new Map<Scenario, Spent[]>(scenarios.map((scenario) => [scenario, []]))
  for (let round = 1; round <= rounds; round++) {
    for (const [scenario, before] of spent) {
      onProgress(`round ${round} of ${rounds}: ${scenario.name}`)
      before.push(await scenario.run(bench))
    }
  }
  return [...spent].map(([scenario, samples]) => ({
    scenario: scenario.name,
    cpuUs: spread(samples.map(({ cpuUs }) => cpuUs / bench.rows)),
    walBytes: spread(samples.map(({ walBytes }) => walBytes / bench.rows)),
    aim: scenario.aim ?? null,
  }))
}

function spread(samples: readonly number[]): [number, number, number] {
  const sorted = samples.toSorted((a, b) => a - b)
  return [sorted[Math.floor(sorted.length / 2)]!, sorted[0]!, sorted.at(-1)!]
}
