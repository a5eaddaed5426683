/** A lane per node: when it lived, where its heartbeats have gaps, which runs were taken from it, which of its writes were refused. */
import { useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { HeartbeatLane, LaneMark } from '../../api/contract.ts'
import type { RequestProblem } from '../../api/problem.ts'
import { request } from '../../api/request.ts'
import { useConnectionPart } from '../../live/connection.ts'
import { serverNow } from '../../live/server-clock.ts'
import { Card, Empty, Head, Pending } from '../../parts/card.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { Segments } from '../../parts/segments.tsx'
import { Body, Table, Td, Th, Tr } from '../../parts/table.tsx'
import { At } from '../../parts/time.tsx'
import { duration } from '../../words/durations.ts'
import { causeInWords } from '../../words/recovery-causes.ts'
import { visibleText } from '../../words/visible-text.ts'
import { LanesChart } from './lanes-chart.tsx'
import { markLooks } from './mark-looks.ts'

const windows = [
  { value: '15', label: '15 min', ms: 900_000 },
  { value: '60', label: '1 h', ms: 3_600_000 },
  { value: '360', label: '6 h', ms: 21_600_000 },
  { value: '1440', label: '24 h', ms: 86_400_000 },
] as const

interface Lanes {
  readonly from: string
  readonly to: string
  readonly items: readonly HeartbeatLane[]
}

export function HeartbeatsPage(): ReactNode {
  const [chosen, setChosen] = useState<(typeof windows)[number]['value']>('15')
  const ms = windows.find(({ value }) => value === chosen)?.ms ?? 900_000
  const frozenAt = useConnectionPart('frozenAt')
  const { data, error } = useQuery<Lanes, RequestProblem>({
    queryKey: ['lanes', ms],
    queryFn: ({ signal }) => {
      const to = serverNow()
      return request('GET', `/lanes?from=${new Date(to - ms).toISOString()}&to=${new Date(to).toISOString()}`, {
        signal,
      })
    },
    refetchInterval: frozenAt === null ? Math.max(2_000, ms / 600) : false,
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <Head title="Heartbeats">
        <div className="acts">
          <Segments legend="Window" hideLegend options={windows} value={chosen} onChange={setChosen} />
        </div>
      </Head>
      {data === undefined ? (
        <Card label="Lanes">
          <Pending error={error} rows={8} />
        </Card>
      ) : (
        <Loaded lanes={data} />
      )}
    </>
  )
}

function Loaded({ lanes }: { readonly lanes: Lanes }): ReactNode {
  const events = lanes.items.flatMap((lane) => [
    ...lane.marks.map((mark) => ({ lane, at: mark.at, mark, words: wordsOf(mark) })),
    ...lane.gaps.map(({ from, to }) => ({
      lane,
      at: from,
      mark: undefined,
      words: `no heartbeat for ${duration(Date.parse(to) - Date.parse(from))}`,
    })),
  ])
  return (
    <>
      <Card
        title="Lanes"
        sub={
          <span className="only-l">
            one per node; it is empty between late heartbeats, red where one came later than the node allows
          </span>
        }
        end={<Legend />}
      >
        {lanes.items.length === 0 ? (
          <Empty title="No node lived in this time" />
        ) : (
          <div className="pad">
            <LanesChart lanes={lanes.items} from={Date.parse(lanes.from)} to={Date.parse(lanes.to)} />
          </div>
        )}
      </Card>
      <Card title="What happened" sub={events.length}>
        {events.length === 0 ? (
          <Empty title="Nothing went wrong">
            <p>Every heartbeat came in time, no run was taken over, no write was refused.</p>
          </Empty>
        ) : (
          <Events events={events.toSorted((a, b) => (a.at < b.at ? 1 : -1)).slice(0, 200)} />
        )}
      </Card>
    </>
  )
}

function wordsOf({ kind, text }: LaneMark): string {
  const words = visibleText(text)
  if (kind === 'refused') return words.replace(/^refused-beat/, 'refused heartbeat').replace(/^refused-/, 'refused ')
  if (kind === 'recovery') return words.replace(/ \(([a-z-]+)\)$/, (_, cause: string) => `: ${causeInWords(cause)}`)
  return words
}

function Legend(): ReactNode {
  return (
    <span className="legend">
      {(['recovery', 'refused', 'beat-failed', 'drain', 'stopped'] as const).map((kind) => (
        <span key={kind} className={`marklegend ${markLooks[kind].tone}`}>
          <Glyph name={markLooks[kind].glyph} />
          {markLooks[kind].word}
        </span>
      ))}
    </span>
  )
}

interface LaneEvent {
  readonly lane: HeartbeatLane
  readonly at: string
  readonly mark: LaneMark | undefined
  readonly words: string
}

function Events({ events }: { readonly events: readonly LaneEvent[] }): ReactNode {
  const head = (
    <>
      <Th>At</Th>
      <Th>Node</Th>
      <Th>What</Th>
      <Th>Run</Th>
    </>
  )
  return (
    <Table label="What happened" className="t-h" head={head}>
      <Body>
        {events.map(({ lane, at, mark, words }, index) => {
          const look = markLooks[mark?.kind ?? 'gap']
          return (
            <Tr key={index}>
              <Td className="mute">
                <At at={at} />
              </Td>
              <Td className="end">
                <Link href={`/nodes/${encodeURIComponent(lane.replicaId)}`}>
                  <b>{lane.name}</b>
                </Link>
              </Td>
              <Td className="c-what fill">
                <span className={`cut marklegend ${look.tone}`}>
                  <Glyph name={look.glyph} /> <span className="soft cut">{words}</span>
                </span>
              </Td>
              <Td className="c-id end">
                {mark?.runId == null ? null : (
                  <Link className="id link" href={`/runs/${mark.runId}`}>
                    {mark.runId}
                  </Link>
                )}
              </Td>
            </Tr>
          )
        })}
      </Body>
    </Table>
  )
}
