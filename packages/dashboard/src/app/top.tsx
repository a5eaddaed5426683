/** The header: which environment and database this is, the palette, and the state of the data. */
import type { ReactNode } from 'react'
import { connection, useConnection } from '../live/connection.ts'
import { useNow } from '../live/use-now.ts'
import { Icon } from '../parts/icon.tsx'
import { clockTime, hourMinute } from '../words/times.ts'
import { modKey } from './keys.ts'
import { useSession } from './may.ts'

export function Top({ onFind }: { readonly onFind: () => void }): ReactNode {
  const session = useSession()
  return (
    <header className="top">
      {session?.badge == null ? null : (
        <span className={isRed(session.badge.color) ? 'env' : 'env plain-env'}>{session.badge.text}</span>
      )}
      {session?.database == null ? null : (
        <span className="soft cut">
          <span className="only-l mute">database </span>
          {session.database.name}
          <span className="only-l mute"> on {session.database.place}</span>
        </span>
      )}
      <span className="grow" />
      <button className="find" type="button" onClick={onFind}>
        <Icon name="find" />
        <span>Find a run, node or queue</span>
        <kbd>{modKey} K</kbd>
      </button>
      <LiveState />
    </header>
  )
}

/** The colour of a badge comes from the configuration; the page has one for danger and one for the rest, both readable. */
function isRed(color: string | null): boolean {
  const [red = 0, green = 0, blue = 0] = (color?.match(/[\da-f]{2}/gi) ?? []).map((part) => Number.parseInt(part, 16))
  return color === null || color === 'red' || (red > green * 1.4 && red > blue * 1.4)
}

function LiveState(): ReactNode {
  const { mode, frozenAt, away, lastAt } = useConnection()
  const now = useNow()
  if (away !== null)
    return (
      <span className="live down">
        <i />
        no {away.what}
        <span className="only-l"> since {hourMinute(new Date(away.since))}</span>
      </span>
    )
  if (frozenAt !== null)
    return (
      <button type="button" className="btn ghost live frozen" onClick={connection.toggleFrozen} title="Go on (.)">
        <i />
        frozen <span className="only-l">at {clockTime(new Date(frozenAt))}</span>
      </button>
    )
  const [look, word] =
    mode === 'live' ? ['', 'live'] : mode === 'polling' ? ['poll', 'polling 5 s'] : ['wait', 'connecting']
  return (
    <span className={`live ${look}`} title={lastAt === null ? undefined : `Last answer ${clockTime(new Date(lastAt))}`}>
      <i />
      {word} <span className="mute only-l">{clockTime(new Date(now))}</span>
    </span>
  )
}
