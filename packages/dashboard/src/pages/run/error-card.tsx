/** The error of the last attempt, the frames of own code before those of libraries. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { RunDetail } from '../../api/run-contract.ts'
import { Card } from '../../parts/card.tsx'
import { Copy } from '../../parts/copy.tsx'
import { visibleText } from '../../words/visible-text.ts'

export function ErrorCard({ detail }: { readonly detail: RunDetail }): ReactNode {
  const last = detail.attempts.findLast(({ code, detail: text }) => code !== null || text !== null)
  if (last === undefined || detail.run.status === 'SUCCEEDED' || last.outcome === 'succeeded') return null
  const text = visibleText(last.detail ?? '')
  return (
    <Card
      title={<span className="bad">{last.code ?? last.outcome}</span>}
      sub={`attempt ${last.attempt}${last.replicaName === null ? '' : ` on ${last.replicaName}`}${last.thread === null ? '' : `, thread ${last.thread}`}`}
      end={
        <>
          {last.code === null ? null : (
            <Link className="btn ghost" href={`/runs?code=${encodeURIComponent(last.code)}`}>
              Runs with this code
            </Link>
          )}
          {text === '' ? null : <Copy text={last.detail ?? ''} label="Copy the error" />}
        </>
      }
    >
      {text === '' ? null : (
        <pre className="trace" tabIndex={0} role="group" aria-label="Error">
          {text.split('\n').map((line, index) => (
            <span key={index} className={isFar(line) ? 'far' : ''}>
              {line}
              {'\n'}
            </span>
          ))}
        </pre>
      )}
    </Card>
  )
}

/** A frame of a library or of Node. */
function isFar(line: string): boolean {
  return /^\s*at /.test(line) && /node_modules|node:/.test(line)
}
