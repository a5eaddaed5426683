/** Why it does not run, or that nothing holds it up: one sentence per reason, with the way to what is in its way. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { RunDetail, Why } from '../../api/run-contract.ts'
import { useData } from '../../api/use-data.ts'
import { Card, Pending } from '../../parts/card.tsx'
import { CliLine } from '../../parts/cli-line.tsx'
import { Glyph, type GlyphName } from '../../parts/glyph.tsx'
import { visibleText } from '../../words/visible-text.ts'

export function WhyCard({ detail }: { readonly detail: RunDetail }): ReactNode {
  const { run } = detail
  const { data, error } = useData<Why>(`/runs/${run.id}/why`, { everyMs: 2_000, enabled: run.finishedAt === null })
  if (run.finishedAt !== null) return null
  return (
    <section id="why" className="o3">
      <Card className="why" title="Why" end={<CliLine command={`q why ${run.id}`} />}>
        {data === undefined ? (
          <Pending error={error} rows={1} />
        ) : (
          <ul className="pad" aria-live="polite">
            {data.reasons.map((reason, index) => (
              <ReasonItem key={index} reason={reason} sentence={data.sentences?.[index] ?? data.sentence} />
            ))}
          </ul>
        )}
      </Card>
    </section>
  )
}

const looks: Readonly<Record<string, readonly [glyph: GlyphName, tone: string]>> = {
  held: ['running', 'running'],
  ready: ['available', 'available'],
  'queue-paused': ['paused', 'paused'],
  'workflow-paused': ['paused', 'paused'],
  'no-replica': ['lost', 'lost'],
  'task-unknown': ['failed', 'failed'],
  'task-unpublished': ['failed', 'failed'],
  'queue-unserved': ['failed', 'failed'],
  'capabilities-missing': ['failed', 'failed'],
  'all-draining': ['draining', 'draining'],
  expired: ['expired', 'expired'],
}

function ReasonItem({
  reason,
  sentence,
}: {
  readonly reason: Why['reasons'][number]
  readonly sentence: string
}): ReactNode {
  const [glyph, tone] = looks[reason.reason] ?? ['pending', 'pending']
  const [holder, name] = [textOf(reason, 'replicaId'), textOf(reason, 'name')]
  const isInSentence = reason.reason === 'held' && name !== '' && sentence.includes(name)
  return (
    <li className={tone}>
      <Glyph name={glyph} />
      <span>
        {isInSentence ? (
          <Named sentence={visibleText(sentence)} name={name} to={`/nodes/${encodeURIComponent(holder)}`} />
        ) : (
          <>
            {visibleText(sentence)} <ReasonLinks reason={reason} />
          </>
        )}
      </span>
    </li>
  )
}

/** The sentence with the name in it as the way to its page. */
function Named(props: { readonly sentence: string; readonly name: string; readonly to: string }): ReactNode {
  const { sentence, name, to } = props
  const at = sentence.indexOf(name)
  return (
    <>
      {sentence.slice(0, at)}
      <Link className="link" href={to}>
        {name}
      </Link>
      {sentence.slice(at + name.length)}
    </>
  )
}

function textOf(reason: Why['reasons'][number], key: string): string {
  return typeof reason[key] === 'string' ? reason[key] : ''
}

function ReasonLinks({ reason }: { readonly reason: Why['reasons'][number] }): ReactNode {
  const text = (key: string) => textOf(reason, key)
  switch (reason.reason) {
    case 'held':
      return <Way to={`/nodes/${encodeURIComponent(text('replicaId'))}`}>{text('name') || 'Show the node'}</Way>
    case 'queue-paused':
    case 'queue-unserved':
      return <Way to={`/queues/${encodeURIComponent(text('queue'))}`}>Show the queue</Way>
    case 'workflow-paused':
      return <Way to={`/workflows/${text('workflowId')}`}>Show the workflow</Way>
    case 'no-replica':
    case 'task-unknown':
    case 'task-unpublished':
    case 'capabilities-missing':
    case 'all-draining':
      return <Way to="/nodes">Show the nodes</Way>
    case 'concurrency':
      return ((reason['holders'] as readonly { readonly runId: string }[] | undefined) ?? [])
        .slice(0, 5)
        .map(({ runId }) => (
          <Way key={runId} to={`/runs/${runId}`}>
            {runId}
          </Way>
        ))
    default:
      return null
  }
}

function Way({ to, children }: { readonly to: string; readonly children: ReactNode }): ReactNode {
  return (
    <>
      <Link className="link" href={to}>
        {children}
      </Link>{' '}
    </>
  )
}
