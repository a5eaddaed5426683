/**
 * The error of the last attempt: its text and the stack frames of the user's code; a click opens those of libraries. A run that ended
 * without an attempt, as a skipped one, shows the reason.
 */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { RunDetail } from '../../api/run-contract.ts'
import { Card } from '../../parts/card.tsx'
import { Copy } from '../../parts/copy.tsx'
import { endResultOf } from '../../words/end-result.ts'
import { several } from '../../words/numbers.ts'
import { visibleText } from '../../words/visible-text.ts'

interface End {
  readonly code: string | null
  readonly where: string
  readonly text: string
  /** A cancel, a deadline and a skipped step are decisions: red is for failures. */
  readonly isFault: boolean
}

export function ErrorCard({ detail }: { readonly detail: RunDetail }): ReactNode {
  const end = errorOf(detail)
  if (end === undefined) return null
  const { code, where, text, isFault } = end
  return (
    <Card
      className="o1"
      title={<span className={isFault ? 'bad' : ''}>{code ?? 'Failed'}</span>}
      sub={where}
      end={
        <>
          {code === null ? null : (
            <Link className="btn ghost" href={`/runs?code=${encodeURIComponent(code)}`}>
              Runs with this code
            </Link>
          )}
          {text === '' ? null : <Copy text={text} label="Copy the error" />}
        </>
      }
    >
      {text === '' ? null : <Trace text={visibleText(text)} />}
    </Card>
  )
}

/** The code and the text that an ended run ended with, or those of the last failed attempt of a run that goes on. */
export function errorOf(detail: RunDetail): End | undefined {
  const { run, attempts } = detail
  if (run.status === 'SUCCEEDED') return undefined
  const last = attempts.findLast(({ code, detail: text }) => code !== null || text !== null)
  const ended = run.finishedAt === null ? undefined : endResultOf(run.result)
  if (ended !== undefined && ended.code !== last?.code)
    return {
      code: ended.code,
      text: ended.stack ?? ended.detail,
      where: attempts.length === 0 ? 'without an attempt' : '',
      isFault: run.status === 'FAILED',
    }
  if (last === undefined || last.outcome === 'succeeded') return undefined
  const thread = last.thread === null ? '' : `, thread ${last.thread}`
  return {
    code: last.code,
    // Earlier attempts keep the first lines of their stacks in the timeline.
    text: ended?.stack ?? last.detail ?? '',
    where: `attempt ${last.attempt}${last.replicaName === null ? '' : ` on ${last.replicaName}`}${thread}`,
    isFault: ['failed', 'retried', 'crashed'].includes(last.outcome),
  }
}

function Trace({ text }: { readonly text: string }): ReactNode {
  const lines = text.split('\n')
  const far = lines.filter(isFar)
  return (
    <div className="trace" tabIndex={0} role="group" aria-label="Error">
      <pre>{lines.filter((line) => !isFar(line)).join('\n')}</pre>
      {far.length === 0 ? null : (
        <details>
          <summary>{several(far.length, 'frame')} of libraries</summary>
          <pre>{far.join('\n')}</pre>
        </details>
      )}
    </div>
  )
}

/** A frame of a library, of q or of Node. */
function isFar(line: string): boolean {
  return /^\s*at /.test(line) && /node_modules|node:|\/packages\/runner\/(?:src|dist)\//.test(line)
}
