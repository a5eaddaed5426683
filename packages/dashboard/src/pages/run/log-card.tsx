/** The log of a run, by attempt. It follows the end until a person scrolls up. */
import { memo, useEffect, useRef, useState, type ReactNode } from 'react'
import type { LoggedLine, RunAttempt } from '../../api/run-contract.ts'
import { Card, Empty, Skeleton } from '../../parts/card.tsx'
import { countLabel } from '../../words/numbers.ts'
import { exactTime, wholeDate } from '../../words/times.ts'
import { visibleText } from '../../words/visible-text.ts'
import { useLogs } from './use-logs.ts'

interface Props {
  readonly id: string
  readonly attempts: readonly RunAttempt[]
  readonly ended: boolean
}

const levels = [
  { value: 0, label: 'All levels' },
  { value: 30, label: 'Info and above' },
  { value: 40, label: 'Warnings and errors' },
  { value: 50, label: 'Errors' },
] as const

/** As many lines are drawn at first, and as many more on request. */
const drawnAtOnce = 2_000

export function LogCard({ id, attempts, ended }: Props): ReactNode {
  const { lines, isLoaded, isCut } = useLogs(id, !ended)
  const [level, setLevel] = useState(0)
  const [text, setText] = useState('')
  const [most, setMost] = useState(drawnAtOnce)
  const [isFollowing, setFollowing] = useState(true)
  const list = useRef<HTMLOListElement>(null)
  const shown = lines.filter(
    (line) => line.level >= level && (text === '' || line.line.toLowerCase().includes(text.toLowerCase())),
  )
  const drawn = shown.slice(-most)
  useEffect(() => {
    if (isFollowing && !ended) list.current?.scrollTo({ top: list.current.scrollHeight })
  }, [shown.length, isFollowing, ended])
  const onScroll = () => {
    const at = list.current
    if (at !== null) setFollowing(at.scrollHeight - at.scrollTop - at.clientHeight < 40)
  }
  const tools = <LogTools text={text} onText={setText} level={level} onLevel={setLevel} />
  return (
    <div id="logs">
      <Card title="Logs" sub={ended ? countLabel(lines.length) : isFollowing ? 'following' : 'scrolled up'} end={tools}>
        {!isLoaded ? (
          <Skeleton rows={3} />
        ) : drawn.length === 0 ? (
          <Empty title={lines.length === 0 ? 'Nothing logged' : 'No line matches'}>
            <p>
              {lines.length === 0
                ? 'What the code logs with ctx.log appears here.'
                : `${lines.length} lines do not match.`}
            </p>
          </Empty>
        ) : (
          <ol className="log" ref={list} onScroll={onScroll} tabIndex={0} aria-label="Log lines">
            {shown.length > drawn.length ? (
              <li className="sep">
                the last {countLabel(drawn.length)} of {countLabel(shown.length)} lines
                <button type="button" className="btn" onClick={() => setMost(most + drawnAtOnce)}>
                  Show earlier
                </button>
              </li>
            ) : isCut ? (
              <li className="sep">
                only the last {countLabel(lines.length)} lines are kept here; GET /api/runs/{id}/logs has all
              </li>
            ) : null}
            {drawn.map((line, index) => (
              <Line
                key={`${line.fence}.${line.lineNo}`}
                line={line}
                begins={
                  drawn[index - 1]?.fence === line.fence
                    ? undefined
                    : attempts.find(({ fence }) => fence === line.fence)
                }
                isFirst={drawn[index - 1]?.fence !== line.fence}
              />
            ))}
          </ol>
        )}
      </Card>
    </div>
  )
}

interface ToolsProps {
  readonly text: string
  readonly onText: (text: string) => void
  readonly level: number
  readonly onLevel: (level: number) => void
}

function LogTools({ text, onText, level, onLevel }: ToolsProps): ReactNode {
  return (
    <span className="logbar">
      <input
        className="field-s"
        type="search"
        aria-label="Find in the log"
        placeholder="Find in the log"
        value={text}
        onChange={(event) => onText(event.target.value)}
      />
      <select
        className="field-s"
        aria-label="Levels"
        value={level}
        onChange={(event) => onLevel(Number(event.target.value))}
      >
        {levels.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </span>
  )
}

interface LineProps {
  readonly line: LoggedLine
  readonly begins: RunAttempt | undefined
  readonly isFirst: boolean
}

const Line = memo(function Line({ line, begins, isFirst }: LineProps): ReactNode {
  const [word, look] = levelOf(line.level)
  const at = new Date(line.at)
  return (
    <>
      {isFirst ? (
        <li className="sep">
          {begins === undefined ? '' : `attempt ${begins.attempt}, ${begins.replicaName ?? begins.replicaId}, `}fence{' '}
          {line.fence}
        </li>
      ) : null}
      <li>
        <time dateTime={line.at} title={wholeDate(at)}>
          {exactTime(at).slice(0, -1)}
        </time>
        <span className={`lv ${look}`}>{word}</span>
        <span>
          {visibleText(line.line)}
          {line.facts === null || line.facts === undefined ? null : (
            <span className="x"> {visibleText(factsOf(line.facts))}</span>
          )}
        </span>
      </li>
    </>
  )
})

function levelOf(level: number): readonly [word: string, look: string] {
  if (level >= 60) return ['fatal', 'e']
  if (level >= 50) return ['error', 'e']
  if (level >= 40) return ['warn', 'w']
  if (level >= 30) return ['info', '']
  return level >= 20 ? ['debug', ''] : ['trace', '']
}

function factsOf(facts: unknown): string {
  const text = JSON.stringify(facts)
  return text === '{}' ? '' : text
}
