/** Each entry of the timeline as a sentence, with its glyph and tone. */
import type { ReactNode } from 'react'
import type { TimelineItem } from '../../api/run-contract.ts'
import type { GlyphName } from '../../parts/glyph.tsx'
import { percent } from '../../words/numbers.ts'
import { causeInWords } from '../../words/recovery-causes.ts'
import { visibleText } from '../../words/visible-text.ts'

export interface EntryWords {
  readonly glyph: GlyphName
  readonly tone: string
  readonly hot: boolean
  readonly words: ReactNode
}

interface Names {
  /** The name of a node by its id. */
  readonly nameOf: (id: string) => string
  readonly queue: string
  readonly group: string
}

export function wordsOf(entry: TimelineItem, { nameOf, queue, group }: Names): EntryWords {
  const by = entry.by === null ? null : <b>{nameOf(entry.by)}</b>
  const on = by === null ? null : <> on {by}</>
  const code = codeOf(entry)
  switch (entry.what) {
    case 'enqueued':
      return calm(
        'dot',
        <>
          Enqueued into {queue}
          {group === '' ? '' : `, group ${group}`}
          {by === null ? null : <> by {by}</>}
        </>,
      )
    case 'claimed':
      return { glyph: 'claimed', tone: 'claimed', hot: false, words: <>Claimed by {by}</> }
    case 'started':
      return {
        glyph: 'running',
        tone: 'running',
        hot: false,
        words: (
          <>
            Started{on}
            {entry.attempt === undefined ? '' : `, attempt ${entry.attempt}`}
          </>
        ),
      }
    case 'succeeded':
      return { glyph: 'succeeded', tone: 'succeeded', hot: false, words: <>Succeeded{on}</> }
    case 'snoozed':
      return calm('pending', <>Snoozed itself{on}</>)
    case 'recovered':
      return {
        glyph: 'takeover',
        tone: 'lost',
        hot: false,
        words: (
          <>
            Recovered by {by} from <b>{nameOf(entry.from ?? '')}</b>, became {entry.became}{' '}
            <span className="mute">{causeInWords(entry.cause ?? '')}</span>
          </>
        ),
      }
    case 'cancel-requested':
      return {
        glyph: 'stopping',
        tone: 'stopping',
        hot: false,
        words: <>Cancel requested{by === null ? null : <> by {by}</>}</>,
      }
    case 'beat':
      return calm(
        'diamond',
        <>
          Last heartbeat{entry.progress == null ? null : <> at {percent(entry.progress * 100)}</>}
          <span className="mute"> {visibleText(entry.note ?? '')}</span>
        </>,
      )
    case 'ended':
      return calm(
        entry.status === 'EXPIRED' ? 'expired' : 'cancelled',
        <>
          Ended {entry.status}
          {code} without an attempt
        </>,
      )
    case 'retried-manually':
      return { glyph: 'takeover', tone: 'running', hot: false, words: <>Retried by a person, epoch {entry.epoch}</> }
    case 'noted':
      return notedWords(entry, by)
    default:
      return endWords(entry, by)
  }
}

/** Words for the end of an attempt, and for an entry that this page does not know. */
function endWords(entry: TimelineItem, by: ReactNode): EntryWords {
  const on = by === null ? null : <> on {by}</>
  const code = codeOf(entry)
  const detail = detailOf(entry)
  const sentence = (verb: string, then = '') => (
    <>
      {verb}
      {on}
      {code}
      {then}
      {detail}
    </>
  )
  switch (entry.what) {
    case 'failed':
      return { glyph: 'failed', tone: 'failed', hot: true, words: sentence('Failed') }
    case 'retried':
      return { glyph: 'failed', tone: 'failed', hot: false, words: sentence('Failed', ', will be retried') }
    case 'crashed':
      return { glyph: 'lost', tone: 'lost', hot: true, words: sentence('Lost') }
    case 'cancelled':
      return calm('cancelled', sentence('Cancelled'))
    case 'released':
      return calm(
        'takeover',
        <>
          Released by {by}
          {code}
          {detail}
        </>,
      )
    default:
      return calm(
        'dot',
        <>
          {entry.what.replaceAll('-', ' ')}
          {on}
          {detail}
        </>,
      )
  }
}

function codeOf({ code }: TimelineItem): ReactNode {
  return code == null ? null : <code> {code}</code>
}

function detailOf({ detail }: TimelineItem): ReactNode {
  return detail == null ? null : <span className="mute"> {firstLine(detail)}</span>
}

function notedWords(entry: TimelineItem, by: ReactNode): EntryWords {
  const kind = (entry.kind ?? '').replaceAll('-', ' ')
  const detail = detailOf(entry)
  if (entry.kind?.startsWith('refused') === true)
    return {
      glyph: 'refused',
      tone: 'lost',
      hot: true,
      words: (
        <>
          Write refused: {by} sent a {kind.replace('refused ', '').replace(/^beat$/, 'heartbeat')} under fence{' '}
          {entry.fence}, which was lost{detail}
        </>
      ),
    }
  return calm(
    'dot',
    <>
      {kind.charAt(0).toUpperCase() + kind.slice(1)}
      {by === null ? null : <>, {by}</>}
      {detail}
    </>,
  )
}

function calm(glyph: GlyphName, words: ReactNode): EntryWords {
  return { glyph, tone: 'quiet', hot: false, words }
}

function firstLine(text: string): string {
  const [line = ''] = visibleText(text).split('\n')
  return line.length > 200 ? `${line.slice(0, 200)}…` : line
}
