/** Muting an error for a while: it is counted on, and no longer asks for attention. */
import { useState, type ReactNode } from 'react'
import type { ErrorGroup } from '../../api/contract.ts'
import { useAct } from '../../api/use-act.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { CliLine } from '../../parts/cli-line.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Segments } from '../../parts/segments.tsx'

const times = [
  { value: '1h', label: '1 hour', ms: 3_600_000 },
  { value: '24h', label: '1 day', ms: 86_400_000 },
  { value: '168h', label: '1 week', ms: 604_800_000 },
] as const

export function MuteButton({ group }: { readonly group: ErrorGroup }): ReactNode {
  const [asking, setAsking] = useState(false)
  const [chosen, setChosen] = useState<(typeof times)[number]['value']>('24h')
  const { act, busy } = useAct()
  const path = `/errors/${group.fingerprint}/mute`
  const short = group.fingerprint.slice(0, 8)
  const mute = async () => {
    const untilMs = times.find(({ value }) => value === chosen)?.ms
    await act({ method: 'PUT', path, body: { untilMs }, done: () => 'Muted. It is still counted.' })
    setAsking(false)
  }
  if (group.mutedUntil !== null)
    return (
      <div className="acts-row">
        <ActButton
          disabled={busy}
          onClick={() => void act({ method: 'DELETE', path, done: () => 'It asks for attention again.' })}
        >
          Unmute
        </ActButton>
        <CliLine command={`q errors unmute ${short}`} />
      </div>
    )
  return (
    <div className="acts-row">
      <ActButton disabled={busy} onClick={() => setAsking(true)}>
        Mute…
      </ActButton>
      <CliLine command={`q errors mute ${short}`} />
      {asking ? (
        <Confirm
          title="Mute this error?"
          lead="It is still counted and can still be retried; it no longer appears in what needs attention."
          command={`q errors mute ${short} --for ${chosen}`}
          button="Mute it"
          undoable
          busy={busy}
          onConfirm={() => void mute()}
          onClose={() => setAsking(false)}
        >
          <div className="opts">
            <Segments legend="For" options={times} value={chosen} onChange={setChosen} />
          </div>
        </Confirm>
      ) : null}
    </div>
  )
}
