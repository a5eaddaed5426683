/** The facts of a node: host, version, what it serves, and the thresholds it registered for itself. */
import type { ReactNode } from 'react'
import type { Node } from '../../api/contract.ts'
import { Card } from '../../parts/card.tsx'
import { At } from '../../parts/time.tsx'
import { duration } from '../../words/durations.ts'
import { countLabel, megabytes, percent, several } from '../../words/numbers.ts'
import { HeartbeatAge } from './node-row.tsx'

export function NodeFacts({ node }: { readonly node: Node }): ReactNode {
  const { thresholds } = node
  const isLiving = node.state === 'alive' || node.state === 'draining'
  return (
    <aside className="stack">
      <Card title="Node" className="o2">
        <dl className="facts pad">
          <dt>Heartbeat</dt>
          <dd>
            <HeartbeatAge node={node} />
          </dd>
          <dt>Host</dt>
          <dd>
            {node.hostname} <span className="mute">pid {node.pid}</span>
          </dd>
          <dt>Version</dt>
          <dd>{node.version}</dd>
          <dt>Started</dt>
          <dd>
            <At at={node.startedAt} />
          </dd>
          {node.stoppedAt === null ? null : (
            <>
              <dt>Stopped</dt>
              <dd>
                <At at={node.stoppedAt} />
              </dd>
            </>
          )}
          <dt>Health</dt>
          <dd>{isLiving ? node.health : 'unknown'}</dd>
          <dt>CPU, memory</dt>
          <dd>{isLiving ? `${percent(node.cpuPercent)}, ${megabytes(node.memoryMb)}` : '–'}</dd>
          <dt>Finished</dt>
          <dd>
            {several(node.completed, 'run')}, <span className="mute">{countLabel(node.failed)} failed</span>
          </dd>
          <dt>Queues</dt>
          <dd>{node.queues.length === 0 ? 'every queue' : node.queues.join(', ')}</dd>
          <dt>Tasks</dt>
          <dd>{node.tasks.join(', ')}</dd>
          {node.capabilities.length === 0 ? null : (
            <>
              <dt>Capabilities</dt>
              <dd>{node.capabilities.join(', ')}</dd>
            </>
          )}
          <dt>Presence</dt>
          <dd>{{ held: 'lock held', gone: 'lock missing', none: 'not registered' }[node.presence]}</dd>
          <dt>Recovery</dt>
          <dd>{node.recovers ? 'on' : <span className="warn">switched off</span>}</dd>
        </dl>
      </Card>
      <Card title="Thresholds" sub={node.preset}>
        <dl className="facts pad">
          <dt>Node</dt>
          <dd>
            beats every {duration(thresholds.replicaBeatMs)},{' '}
            <span className="mute">stale after {duration(thresholds.replicaStaleMs)}</span>
          </dd>
          <dt>Claimed</dt>
          <dd>
            every {duration(thresholds.claimerBeatMs)},{' '}
            <span className="mute">stale after {duration(thresholds.claimerStaleMs)}</span>
          </dd>
          <dt>Running</dt>
          <dd>
            every {duration(thresholds.runnerBeatMs)},{' '}
            <span className="mute">stale after {duration(thresholds.runnerStaleMs)}</span>
          </dd>
          <dt>Presence</dt>
          <dd>gone after {duration(node.presenceGraceMs)}</dd>
        </dl>
      </Card>
    </aside>
  )
}
