/** One node: what it does now, how it did in the last hour, its failures, gaps and recoveries. */
import { useState, type ReactNode } from 'react'
import type { NodeDetail } from '../../api/contract.ts'
import { useData } from '../../api/use-data.ts'
import { useKeys } from '../../app/keys.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { NodeBadge } from '../../parts/badge.tsx'
import { Card, Head, Pending } from '../../parts/card.tsx'
import { ChartCard } from '../../parts/chart/chart-card.tsx'
import { CliLine } from '../../parts/cli-line.tsx'
import { shellWord } from '@q/server/client'
import { Copy } from '../../parts/copy.tsx'
import { shortId } from '../../parts/node-name.tsx'
import { megabytes, percent } from '../../words/numbers.ts'
import { DrainDialog } from './drain-dialog.tsx'
import { DrainPanel } from './drain-panel.tsx'
import { LostPanel } from './lost-panel.tsx'
import { NodeFacts } from './node-facts.tsx'
import { NodeHistory } from './node-history.tsx'
import { NodeSentence, ThreadsTable } from './threads-panel.tsx'

export function NodePage({ id }: { readonly id: string }): ReactNode {
  const { data, error } = useData<NodeDetail>(`/nodes/${encodeURIComponent(id)}`, { everyMs: 2_000 })
  if (data === undefined)
    return (
      <>
        <Head title={id} />
        <Card label="Node">
          <Pending error={error} rows={6} />
        </Card>
      </>
    )
  return <Loaded detail={data} />
}

function Loaded({ detail }: { readonly detail: NodeDetail }): ReactNode {
  const { node } = detail
  const [asking, setAsking] = useState(false)
  const isAlive = node.state === 'alive'
  useKeys({ d: () => isAlive && setAsking(true) })
  return (
    <>
      <Head title={node.name} className="run" before={<NodeBadge node={node} big />}>
        <span className="idl">
          <span className="id mute" title={node.id}>
            {shortId(node)}
          </span>
          <Copy text={node.id} label="Copy the id of the node" />
        </span>
        <div className="acts">
          {isAlive ? (
            <>
              <span className="only-l">
                <CliLine command={`q drain ${shellWord(node.name)}`} />
              </span>
              <ActButton onClick={() => setAsking(true)}>Drain…</ActButton>
            </>
          ) : null}
        </div>
      </Head>
      <Card label="Now" className="flush">
        {node.state === 'draining' ? <DrainPanel node={node} /> : null}
        {isAlive ? (
          <div className="obj">
            <p className="soft">
              <NodeSentence node={node} />
            </p>
          </div>
        ) : null}
        {isAlive || node.state === 'draining' ? <ThreadsTable node={node} /> : <LostPanel node={node} />}
      </Card>
      <div className="cols">
        <div className="stack">
          <Samples detail={detail} />
          <NodeHistory detail={detail} />
        </div>
        <NodeFacts node={node} />
      </div>
      {asking ? <DrainDialog id={node.id} onClose={() => setAsking(false)} /> : null}
    </>
  )
}

function Samples({ detail }: { readonly detail: NodeDetail }): ReactNode {
  const { samples } = detail
  const panels = [
    {
      label: 'CPU',
      least: 10,
      height: 70,
      format: percent,
      series: [{ name: 'CPU', look: 's-p50', values: samples.map(({ cpuPercent }) => cpuPercent) }],
    },
    {
      label: 'memory',
      height: 60,
      format: megabytes,
      series: [{ name: 'memory', look: 's-retry', values: samples.map(({ memoryMb }) => memoryMb) }],
    },
    {
      label: 'runs at once',
      whole: true,
      height: 50,
      format: String,
      series: [{ name: 'runs', look: 's-ready', values: samples.map(({ activeRuns }) => activeRuns) }],
    },
  ]
  return (
    <ChartCard
      title="Last hour"
      times={samples.map(({ at }) => Date.parse(at))}
      panels={panels}
      isLastPartial={false}
      nothing="A sample of every node is kept from time to time."
    />
  )
}
