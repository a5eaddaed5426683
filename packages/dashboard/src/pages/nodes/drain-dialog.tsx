/** Asks for a drain: says what will happen to each run, for the deadline that is chosen. */
import { useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { HeldRunView, Items, Node, NodeDetail, OnDeadline } from '../../api/contract.ts'
import { useAct } from '../../api/use-act.ts'
import { useData } from '../../api/use-data.ts'
import { allNodes } from '../../live/apply-frames.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { Pending } from '../../parts/card.tsx'
import { CliLine } from '../../parts/cli-line.tsx'
import { shellWord } from '@q/server/client'
import { Dialog } from '../../parts/dialog.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { Progress } from '../../parts/meter.tsx'
import { Segments } from '../../parts/segments.tsx'
import { Body, Table, Td, Th, Tr } from '../../parts/table.tsx'
import { cliDuration } from '../../words/durations.ts'
import { drainOutcome, drainSummary, timeLeft } from './drain-outcome.ts'

const deadlines = [
  { value: 'none', label: 'none', ms: null },
  { value: '2m', label: '2 min', ms: 120_000 },
  { value: '10m', label: '10 min', ms: 600_000 },
  { value: '1h', label: '1 h', ms: 3_600_000 },
] as const

const ends = [
  { value: 'by-task', label: 'by task' },
  { value: 'release', label: 'release' },
  { value: 'fail', label: 'fail' },
] as const

export function DrainDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }): ReactNode {
  const { data, error } = useData<NodeDetail>(`/nodes/${encodeURIComponent(id)}`, { everyMs: 1_000 })
  const others = useData<Items<Node>>(allNodes, { topic: 'nodes' }).data?.items ?? []
  const [chosen, setChosen] = useState<(typeof deadlines)[number]['value']>('2m')
  const [onDeadline, setOnDeadline] = useState<OnDeadline>('by-task')
  const { act, busy } = useAct()
  const name = data?.node.name ?? id
  const deadlineMs = deadlines.find(({ value }) => value === chosen)?.ms ?? null
  const held = data?.held ?? []
  const command = commandOf(name, deadlineMs, onDeadline)

  async function drain(): Promise<void> {
    const body = deadlineMs === null ? {} : { deadlineMs, onDeadline }
    const node = await act<Node>({
      method: 'POST',
      path: `/nodes/${encodeURIComponent(id)}/drain`,
      body,
      done: () => `${name} is draining.`,
    })
    if (node !== undefined) onClose()
  }
  const footer = (
    <>
      <CliLine command={command} />
      <button type="button" className="btn" onClick={onClose}>
        Keep running <kbd>esc</kbd>
      </button>
      <ActButton look="pri" autoFocus disabled={busy} onClick={() => void drain()}>
        Drain {name} <kbd>↵</kbd>
      </ActButton>
    </>
  )
  const lead = `It takes no new runs, finishes what it can, then leaves. ${drainSummary(held.map((run) => drainOutcome(run, deadlineMs, onDeadline)))}`
  return (
    <Dialog
      title={`Drain ${name}?`}
      lead={data === undefined ? 'It takes no new runs, finishes what it can, then leaves.' : lead}
      footer={footer}
      onClose={onClose}
    >
      <Capacity id={id} nodes={others} />
      <div className="opts">
        <Segments legend="Deadline" options={deadlines} value={chosen} onChange={setChosen} />
        {deadlineMs === null ? null : (
          <Segments legend="At the deadline" options={ends} value={onDeadline} onChange={setOnDeadline} />
        )}
      </div>
      <div className="body">
        {data === undefined ? (
          <Pending error={error} rows={4} />
        ) : (
          <HeldTable held={held} deadlineMs={deadlineMs} onDeadline={onDeadline} />
        )}
      </div>
    </Dialog>
  )
}

function commandOf(name: string, deadlineMs: number | null, onDeadline: OnDeadline): string {
  const deadline = deadlineMs === null ? '' : ` --deadline ${cliDuration(deadlineMs)}`
  return `q drain ${shellWord(name)}${deadline}${deadlineMs === null || onDeadline === 'by-task' ? '' : ` --on-deadline ${onDeadline}`}`
}

/** The nodes and slots that are left when this node leaves. */
function Capacity({ id, nodes }: { readonly id: string; readonly nodes: readonly Node[] }): ReactNode {
  const living = nodes.filter(({ state }) => state === 'alive' || state === 'draining')
  const left = living.filter((node) => node.state === 'alive' && node.id !== id)
  const draining = living.filter((node) => node.state === 'draining' && node.id !== id).map(({ name }) => name)
  const slots = (of: readonly Node[]) => of.reduce((sum, node) => sum + node.slots, 0)
  if (draining.length === 0 && left.length > 0) return null
  const also =
    draining.length === 0 ? '' : `${draining.join(', ')} ${draining.length === 1 ? 'is' : 'are'} draining too. `
  const rest =
    left.length === 0
      ? 'No node is left to claim runs: they wait until one starts.'
      : `Only ${left.map(({ name }) => name).join(', ')} will claim: ${slots(left)} of ${slots(living)} slots.`
  return (
    <div className={left.length === 0 ? 'note failed' : 'note'}>
      <Glyph name="bang" />
      <span>
        {also}
        {rest}
      </span>
    </div>
  )
}

interface HeldProps {
  readonly held: readonly HeldRunView[]
  readonly deadlineMs: number | null
  readonly onDeadline: OnDeadline
}

function HeldTable({ held, deadlineMs, onDeadline }: HeldProps): ReactNode {
  if (held.length === 0)
    return (
      <div className="empty">
        <p>It holds no run now.</p>
      </div>
    )
  const head = (
    <>
      <Th>Run</Th>
      <Th>Task</Th>
      <Th>Progress</Th>
      <Th>Left</Th>
      <Th>What will happen</Th>
    </>
  )
  return (
    <Table label="Runs that it holds" className="t-d" head={head}>
      <Body>
        {held.map((run) => {
          const { kind, words } = drainOutcome(run, deadlineMs, onDeadline)
          return (
            <Tr key={run.id}>
              <Td>
                <Link className="id" href={`/runs/${run.id}`}>
                  {run.id}
                </Link>{' '}
                <span className="only-s">{run.task}</span>
              </Td>
              <Td className="hide-s">{run.task}</Td>
              <Td className="end">
                {run.progress === null ? (
                  <span className="mute">–</span>
                ) : (
                  <Progress value={run.progress} tone={kind === 'stopping' ? 'stopping' : 'running'} />
                )}
              </Td>
              <Td className="mute nw hide-s">{timeLeft(run)}</Td>
              <Td className={`c-what ${kind === 'failed' ? 'bad' : kind === 'likely' ? 'warn' : 'soft'}`}>{words}</Td>
            </Tr>
          )
        })}
      </Body>
    </Table>
  )
}
