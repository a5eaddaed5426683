/** The cost of one run of q: before the hot path was rebuilt, and now. */
import { qRetry } from '../measurements/entrants.ts'
import { medianAndRange, markdownTable } from './numbers.ts'
import type { Samples } from './samples.ts'
import { spreadOf } from './statistics.ts'

/** Measured at commit 149ef1b on the same kind of machine, with a first form of this benchmark. */
const before = {
  'no-op': { main: '482–569', threads: '235–265', server: '876–1012', wal: '950', roundTrips: '1.53' },
  'cpu-2ms': { main: '650–950', threads: '–', server: '950–1220', wal: '–', roundTrips: '1.47' },
} as const

const works = [
  { measurement: 'no-op', title: 'no-op', roundTrips: 'noOp' },
  { measurement: 'cpu-2ms', title: '2.2 ms job', roundTrips: 'cpu2' },
] as const

export function costSection(samples: Samples): string[] {
  const rows = works.flatMap(({ measurement, title, roundTrips }) => {
    const figure = (key: string) => samples.figure(measurement, qRetry.label, key)
    if (figure('serverUs').size === 0) return []
    const main = figure('mainThreadUs')
    const threads = [...figure('workerUs')].map(([round, us]) => us - (main.get(round) ?? 0))
    const trips = samples.figure('round-trips', qRetry.label, roundTrips)
    const shown = (values: Iterable<number>) => medianAndRange(spreadOf([...values]))
    const old = before[measurement]
    return [
      [`${title}, before`, old.main, old.threads, old.server, old.wal, old.roundTrips],
      [
        `${title}, now`,
        shown(main.values()),
        shown(threads),
        shown(figure('serverUs').values()),
        shown(figure('walBytes').values()),
        shown(trips.values()),
      ],
    ]
  })
  if (rows.length === 0) return []
  const head = ['', 'main thread, µs', 'other threads, µs', 'server, µs', 'WAL, B', 'round trips']
  const text = `Processor time of one run, with the background loops of that time; the other threads include the computation of the job. "Before" was measured
at commit 149ef1b, before the hot path was rebuilt.`
  return ['## Cost of one run of q', text.replaceAll('\n', ' '), markdownTable(head, rows)]
}
