/** The error of the last attempt: its text and the stack frames of the user's code; a click opens those of libraries. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { RunDetail } from '../../api/run-contract.ts'
import { Card } from '../../parts/card.tsx'
import { Copy } from '../../parts/copy.tsx'
import { several } from '../../words/numbers.ts'
import { visibleText } from '../../words/visible-text.ts'

/** Whether the error card shows what the run ended with. */
export function hasError({ run, attempts }: RunDetail): boolean {
  const last = attempts.findLast(({ code, detail }) => code !== null || detail !== null)
  return last !== undefined && run.status !== 'SUCCEEDED' && last.outcome !== 'succeeded'
}

export function ErrorCard({ detail }: { readonly detail: RunDetail }): ReactNode {
  const last = detail.attempts.findLast(({ code, detail: text }) => code !== null || text !== null)
  if (last === undefined || !hasError(detail)) return null
  const text = traceOf(detail) ?? last.detail ?? ''
  const place = last.thread === null ? '' : `, thread ${last.thread}`
  return (
    <Card
      title={<span className="bad">{last.code ?? last.outcome}</span>}
      sub={`attempt ${last.attempt}${last.replicaName === null ? '' : ` on ${last.replicaName}`}${place}`}
      end={
        <>
          {last.code === null ? null : (
            <Link className="btn ghost" href={`/runs?code=${encodeURIComponent(last.code)}`}>
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

/** The stack that the run ended with; earlier attempts keep the first lines of theirs in the timeline. */
function traceOf({ run }: RunDetail): string | undefined {
  if (run.finishedAt === null || typeof run.result !== 'object' || run.result === null) return undefined
  const stack: unknown = Reflect.get(run.result, 'stack')
  return typeof stack === 'string' && stack !== '' ? stack : undefined
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
