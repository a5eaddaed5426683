/** One schedule: its words, its next five and its last twenty ticks; run it now, pause it. */
import { useState, type ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import type { Schedule, ScheduleTick } from '../../api/contract.ts'
import { useAct } from '../../api/use-act.ts'
import { useData } from '../../api/use-data.ts'
import { useNow } from '../../live/use-now.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { RunBadge } from '../../parts/badge.tsx'
import { Card, Empty, Head, Pending } from '../../parts/card.tsx'
import { CliLine } from '../../parts/cli-line.tsx'
import { shellWord } from '@q/server/client'
import { Confirm } from '../../parts/confirm.tsx'
import { JsonCard } from '../../parts/json/json-view.tsx'
import { Body, Table, Td, Th, Tr } from '../../parts/table.tsx'
import { At } from '../../parts/time.tsx'
import { duration, relative } from '../../words/durations.ts'
import { wholeDate } from '../../words/times.ts'
import { ScheduleBadge } from './schedules-page.tsx'

interface Detail {
  readonly schedule: Schedule
  readonly ticks: readonly ScheduleTick[]
  readonly next: readonly string[]
  /** Its pattern in English. */
  readonly words: string
}

export function SchedulePage({ name }: { readonly name: string }): ReactNode {
  const { data, error } = useData<Detail>(`/schedules/${encodeURIComponent(name)}`)
  if (data === undefined)
    return (
      <>
        <Head title={name} />
        <Card label="Schedule">
          <Pending error={error} rows={6} />
        </Card>
      </>
    )
  const { schedule } = data
  return (
    <>
      <Head title={schedule.name}>
        <ScheduleBadge schedule={schedule} />
        <span className="soft">
          {data.words} <span className="mute">{schedule.timezone}</span>
        </span>
      </Head>
      <div className="cols">
        <div className="stack">
          <Ticks ticks={data.ticks} />
        </div>
        <aside className="stack">
          <Actions schedule={schedule} />
          <Next next={data.next} isPaused={schedule.pausedAt !== null} />
          <Card title="Schedule">
            <dl className="facts pad">
              <dt>Pattern</dt>
              <dd className="mono">{schedule.cron}</dd>
              <dt>Time zone</dt>
              <dd>{schedule.timezone}</dd>
              <dt>Task</dt>
              <dd>
                <Link className="link" href={`/runs?schedule=${encodeURIComponent(schedule.name)}`}>
                  {schedule.task}
                </Link>
              </dd>
              <dt>Missed ticks</dt>
              <dd>
                {{ skip: 'are skipped', one: 'are caught up with one run', all: 'are all caught up' }[schedule.missed]}
              </dd>
              <dt>Declared by</dt>
              <dd>{schedule.isOwn ? 'the code of its task' : 'the client'}</dd>
            </dl>
          </Card>
          {schedule.payload === null || schedule.payload === undefined ? null : (
            <JsonCard title="Payload" text={JSON.stringify(schedule.payload)} />
          )}
        </aside>
      </div>
    </>
  )
}

function Ticks({ ticks }: { readonly ticks: readonly ScheduleTick[] }): ReactNode {
  const head = (
    <>
      <Th>State</Th>
      <Th>Tick</Th>
      <Th>Run</Th>
      <Th className="num">Late by</Th>
      <Th className="num">Took</Th>
      <Th>Outcome</Th>
    </>
  )
  return (
    <Card title="Last ticks" sub={ticks.length === 0 ? undefined : 'newest first'}>
      {ticks.length === 0 ? (
        <Empty title="It has not ticked yet" />
      ) : (
        <Table label="Last ticks" head={head}>
          <Body>
            {ticks.map((tick) => (
              <Tr key={tick.tick}>
                <Td>
                  <RunBadge status={tick.status} />
                </Td>
                <Td className="end">
                  <At at={tick.tick} />
                </Td>
                <Td>
                  <Link className="id" href={`/runs/${tick.runId}`}>
                    {tick.runId}
                  </Link>
                </Td>
                <Td className="num hide-s">
                  {tick.startedAt === null ? '–' : duration(Date.parse(tick.startedAt) - Date.parse(tick.tick))}
                </Td>
                <Td className="num end">
                  {tick.startedAt === null || tick.finishedAt === null
                    ? '–'
                    : duration(Date.parse(tick.finishedAt) - Date.parse(tick.startedAt))}
                </Td>
                <Td className="fill whole bad">
                  <span className="cut mono">{tick.code}</span>
                </Td>
              </Tr>
            ))}
          </Body>
        </Table>
      )}
    </Card>
  )
}

function Next({ next, isPaused }: { readonly next: readonly string[]; readonly isPaused: boolean }): ReactNode {
  const now = useNow()
  return (
    <Card title="Next ticks" sub={isPaused ? 'when it is resumed' : undefined}>
      <ol className="pad">
        {next.map((at) => (
          <li key={at} className="nextrow">
            <At at={at} />
            <span className="mute" title={wholeDate(new Date(at))}>
              {relative(now - Date.parse(at))}
            </span>
          </li>
        ))}
        {next.length === 0 ? <li className="mute">None.</li> : null}
      </ol>
    </Card>
  )
}

function Actions({ schedule }: { readonly schedule: Schedule }): ReactNode {
  const [asking, setAsking] = useState(false)
  const [, navigate] = useLocation()
  const { act, busy } = useAct()
  const path = `/schedules/${encodeURIComponent(schedule.name)}`
  const isPaused = schedule.pausedAt !== null
  const quotedName = shellWord(schedule.name)
  async function run(): Promise<void> {
    const answer = await act<{ runId: string }>({
      method: 'POST',
      path: `${path}/run`,
      done: ({ runId }) => `Run ${runId} is enqueued.`,
    })
    if (answer !== undefined) navigate(`/runs/${answer.runId}`)
  }
  const toggle = () =>
    act({
      method: 'POST',
      path: `${path}/${isPaused ? 'resume' : 'pause'}`,
      done: () => (isPaused ? 'It ticks again.' : 'It is paused.'),
    })
  return (
    <Card title="Actions" className="o2">
      <div className="pad stack8">
        <div className="acts-row">
          <ActButton disabled={busy} onClick={() => setAsking(true)}>
            Run now…
          </ActButton>
          <CliLine command={`q schedules run ${quotedName}`} />
        </div>
        <div className="acts-row">
          <ActButton disabled={busy} onClick={() => void toggle()}>
            {isPaused ? 'Resume' : 'Pause'}
          </ActButton>
          <CliLine command={`q schedules ${isPaused ? 'resume' : 'pause'} ${quotedName}`} />
        </div>
      </div>
      {asking ? (
        <Confirm
          title={`Run ${schedule.name} now?`}
          lead="One run is enqueued with its payload. Its ticks stay as they are."
          command={`q schedules run ${quotedName}`}
          button="Enqueue one run"
          busy={busy}
          onConfirm={() => void run()}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </Card>
  )
}
