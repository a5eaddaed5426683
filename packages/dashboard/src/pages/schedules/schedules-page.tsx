/** Schedules in words, with their next and their last tick. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Items, Schedule } from '../../api/contract.ts'
import { useData } from '../../api/use-data.ts'
import { useNow } from '../../live/use-now.ts'
import { Badge } from '../../parts/badge.tsx'
import { Card, Empty, Head, Pending } from '../../parts/card.tsx'
import { Body, Table, Td, Th, Tr } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { duration } from '../../words/durations.ts'

interface ListedSchedule extends Schedule {
  /** Its pattern in English. */
  readonly words: string
}

export function SchedulesPage(): ReactNode {
  const { data, error } = useData<Items<ListedSchedule>>('/schedules')
  const head = (
    <>
      <Th>Schedule</Th>
      <Th>Task</Th>
      <Th>When</Th>
      <Th className="hide-m">Pattern</Th>
      <Th>State</Th>
      <Th className="num">Last</Th>
      <Th className="num">Next</Th>
    </>
  )
  return (
    <>
      <Head title="Schedules" />
      <Card label="Schedules">
        {data === undefined ? (
          <Pending error={error} rows={5} />
        ) : data.items.length === 0 ? (
          <Empty title="No schedule yet">
            <p>A task declares its own with the option cron; others are put by the client.</p>
          </Empty>
        ) : (
          <Table label="Schedules" className="sticky" head={head}>
            <Body>
              {data.items.map((schedule) => (
                <Row key={schedule.name} schedule={schedule} />
              ))}
            </Body>
          </Table>
        )}
      </Card>
    </>
  )
}

function Row({ schedule }: { readonly schedule: ListedSchedule }): ReactNode {
  return (
    <Tr>
      <Td>
        <Link href={`/schedules/${encodeURIComponent(schedule.name)}`}>
          <b>{schedule.name}</b>
        </Link>
      </Td>
      <Td className="hide-s">{schedule.task}</Td>
      <Td className="fill whole">
        <span className="cut" title={schedule.cron}>
          {schedule.words} <span className="mute">{schedule.timezone}</span>
        </span>
      </Td>
      <Td className="hide-s hide-m mono mute">{schedule.cron}</Td>
      <Td className="end">
        <ScheduleBadge schedule={schedule} />
      </Td>
      <Td className="num mute" data-l="last">
        {schedule.lastTick === null ? '–' : <Ago at={schedule.lastTick} />}
      </Td>
      <Td className="num end" data-l="next">
        {schedule.nextTick === null ? <span className="mute">–</span> : <Ago at={schedule.nextTick} />}
      </Td>
    </Tr>
  )
}

const lateAfterMs = 60_000

export function ScheduleBadge({ schedule }: { readonly schedule: Schedule }): ReactNode {
  const now = useNow()
  if (schedule.pausedAt !== null)
    return (
      <Badge tone="paused" glyph="paused">
        paused{schedule.pausedBy === null ? '' : ` by ${schedule.pausedBy}`}
      </Badge>
    )
  const late = schedule.nextTick === null ? 0 : now - Date.parse(schedule.nextTick)
  if (late > lateAfterMs)
    return (
      <Badge tone="failed" glyph="failed">
        late by {duration(late)}
      </Badge>
    )
  return <span className="mute">on</span>
}
