/** A chart in its card, with its legend and the same numbers as a table. */
import { useState, type ReactNode } from 'react'
import { hourMinute } from '../../words/times.ts'
import { Card, Empty } from '../card.tsx'
import { Body, Table, Td, Th, Tr } from '../table.tsx'
import { Chart, type Panel } from './chart.tsx'

interface Props {
  readonly title: string
  readonly sub?: ReactNode
  readonly end?: ReactNode
  readonly times: readonly number[]
  readonly panels: readonly Panel[]
  readonly isLastPartial: boolean
  readonly nothing: string
}

export function ChartCard({ title, sub, end, times, panels, isLastPartial, nothing }: Props): ReactNode {
  const [asTable, setAsTable] = useState(false)
  const all = panels.flatMap(({ series, format }) => series.map((one) => ({ ...one, format })))
  const hasAny = all.some(({ values }) => values.some((value) => value !== null))
  const toggle = (
    <>
      {end}
      <button type="button" className="btn ghost" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
        As table
      </button>
    </>
  )
  return (
    <Card title={title} sub={sub} end={toggle}>
      {!hasAny || times.length < 2 ? (
        <Empty title="Not enough recorded yet">
          <p>{nothing}</p>
        </Empty>
      ) : asTable ? (
        <NumbersTable title={title} times={times} series={all} />
      ) : (
        <div className="pad">
          {all.length > 1 ? <Legend series={all} isLastPartial={isLastPartial} /> : null}
          <Chart
            label={spoken({ title, times, series: all, isLastPartial })}
            times={times}
            panels={panels}
            isLastPartial={isLastPartial}
          />
        </div>
      )}
    </Card>
  )
}

/** A single series needs no name: the label of its panel is enough. */
function Legend(props: {
  readonly series: readonly (Named & { look: string })[]
  readonly isLastPartial: boolean
}): ReactNode {
  return (
    <div className="legend">
      {props.series.map(({ name, look, values, format }) => {
        const last = lastWhole(values, props.isLastPartial)
        return (
          <span key={name}>
            <svg viewBox="0 0 22 8" aria-hidden="true">
              <path className={look} d="M1 4h20" fill="none" strokeWidth="2" />
            </svg>
            {name} <b>{last === null ? '–' : format(last)}</b>
          </span>
        )
      })}
    </div>
  )
}

interface Named {
  readonly name: string
  readonly values: readonly (number | null)[]
  readonly format: (value: number) => string
}

function NumbersTable(props: {
  readonly title: string
  readonly times: readonly number[]
  readonly series: readonly Named[]
}): ReactNode {
  const { title, times, series } = props
  const head = (
    <>
      <Th>Time</Th>
      {series.map(({ name }) => (
        <Th key={name} className="num">
          {name}
        </Th>
      ))}
    </>
  )
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label={`${title}, as table`}>
      <Table label={title} head={head}>
        <Body>
          {times
            .map((time, index) => (
              <Tr key={time}>
                <Td>{hourMinute(new Date(time))}</Td>
                {series.map(({ name, values, format }) => {
                  const value = values[index] ?? null
                  return (
                    <Td key={name} className="num" data-l={name}>
                      {value === null ? '–' : format(value)}
                    </Td>
                  )
                })}
              </Tr>
            ))
            .toReversed()}
        </Body>
      </Table>
    </div>
  )
}

/** The newest value; one that is still being counted would read as a fall. */
function lastWhole(values: readonly (number | null)[], isLastPartial: boolean): number | null {
  const whole = isLastPartial ? values.slice(0, -1) : values
  return whole.findLast((value) => value !== null) ?? null
}

interface Spoken {
  readonly title: string
  readonly times: readonly number[]
  readonly series: readonly Named[]
  readonly isLastPartial: boolean
}

function spoken({ title, times, series, isLastPartial }: Spoken): string {
  const [first = 0, last = 0] = [times[0], times.at(-1)]
  const ends = series.map(({ name, values, format }) => {
    const value = lastWhole(values, isLastPartial)
    return `${name} ${value === null ? 'not recorded' : format(value)}`
  })
  return `${title}, ${hourMinute(new Date(first))} to ${hourMinute(new Date(last))}. Last: ${ends.join(', ')}.`
}
