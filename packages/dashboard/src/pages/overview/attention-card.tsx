/** The attention list: each item is one sentence with its command and the way to what helps. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Attention, AttentionList } from '../../api/contract.ts'
import { useData } from '../../api/use-data.ts'
import { useNow } from '../../live/use-now.ts'
import { Card, Empty, Pending } from '../../parts/card.tsx'
import { CliLine } from '../../parts/cli-line.tsx'
import { Glyph, type GlyphName } from '../../parts/glyph.tsx'
import { roughly } from '../../words/durations.ts'
import { several } from '../../words/numbers.ts'
import { visibleText } from '../../words/visible-text.ts'

export function AttentionCard(): ReactNode {
  const { data, error } = useData<AttentionList>('/attention', { topic: 'attention' })
  if (data === undefined)
    return (
      <Card title="What needs you">
        <Pending error={error} rows={3} />
      </Card>
    )
  return <Loaded list={data} />
}

function Loaded({ list }: { readonly list: AttentionList }): ReactNode {
  const { items, checks } = list
  const looked = `looked ${roughly(useNow() - Date.parse(list.at))} ago`
  if (items.length === 0)
    return (
      <Card label="What needs you">
        <Empty title="Nothing needs you.">
          <p>
            {checks} checks are fine, {looked}.
          </p>
        </Empty>
      </Card>
    )
  const kinds = new Set(items.map(({ kind }) => kind)).size
  return (
    <Card
      className="att"
      title={`${several(items.length, 'thing needs', 'things need')} you`}
      sub={<span className="only-l">{checks - kinds} other checks are fine</span>}
      end={<span className="mute small">{looked}</span>}
    >
      <ul>
        {items.map((item, index) => (
          <Item key={`${item.kind} ${item.subject} ${index}`} item={item} />
        ))}
      </ul>
    </Card>
  )
}

const tones = { bad: 'failed', warn: 'draining', note: 'quiet' } as const

const kindGlyphs: Readonly<Record<string, GlyphName>> = {
  'queue-grows': 'grows',
  'queue-paused': 'paused',
  'refused-writes': 'refused',
  'to-review': 'bang',
  'slots-stopping': 'stopping',
  'drain-overdue': 'draining',
  'stale-node-holds-runs': 'lost',
  'no-node': 'lost',
}

function Item({ item }: { readonly item: Attention }): ReactNode {
  const glyph = kindGlyphs[item.kind] ?? (item.level === 'bad' ? 'failed' : 'bang')
  return (
    <li className={tones[item.level]}>
      <Glyph name={glyph} />
      <p>
        <Sentence text={unbroken(visibleText(item.sentence))} subject={item.subject} />
        {item.detail === null ? null : <span className="mute"> {unbroken(visibleText(item.detail))}</span>}
      </p>
      <CliLine command={item.command} />
      <Link className="btn" href={item.page}>
        {wordOf(item)}
      </Link>
    </li>
  )
}

/** A number stays on one line with its unit. */
function unbroken(text: string): string {
  return text.replaceAll(/(\d) (ms|s|min|h|d|%)(?![\w-])/g, '$1\u00a0$2')
}

/** The sentence with its subject in bold, where it names it. */
function Sentence({ text, subject }: { readonly text: string; readonly subject: string }): ReactNode {
  const at = subject === '' ? -1 : text.indexOf(subject)
  if (at < 0) return text
  return (
    <>
      {text.slice(0, at)}
      <b>{subject}</b>
      {text.slice(at + subject.length)}
    </>
  )
}

function wordOf({ kind, page }: Attention): string {
  if (kind === 'lane-unserved') return 'Why'
  const [, first = '', second] = page.split(/[/?]/)
  const one: Readonly<Record<string, string>> = {
    queues: 'Open queue',
    runs: 'Open run',
    nodes: 'Open node',
    errors: 'Open error',
    schedules: 'Open schedule',
    workflows: 'Open workflow',
  }
  const many: Readonly<Record<string, string>> = {
    recoveries: 'Review',
    heartbeats: 'Heartbeats',
    deliveries: 'Deliveries',
    runs: 'Show runs',
    nodes: 'Nodes',
    queues: 'Queues',
    errors: 'Errors',
  }
  return (second === undefined || page.includes('?') ? many[first] : one[first]) ?? 'Open'
}
