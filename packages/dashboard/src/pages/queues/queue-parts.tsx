/** The parts of a queue: its tasks and the nodes that serve them, its groups and their shares, its contended keys and their holders. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { ContendedKey, QueueDetail } from '../../api/contract.ts'
import { Badge } from '../../parts/badge.tsx'
import { Card } from '../../parts/card.tsx'
import { Body, Table, Td, Th, Tr } from '../../parts/table.tsx'
import { boundedLabel, several } from '../../words/numbers.ts'

export function TasksCard({ queue }: { readonly queue: QueueDetail }): ReactNode {
  if (queue.tasks.length === 0) return null
  const head = (
    <>
      <Th>Task</Th>
      <Th className="num">Ready</Th>
      <Th className="num">Nodes</Th>
    </>
  )
  return (
    <Card title="Tasks" sub={queue.tasks.length}>
      <Table label="Tasks" head={head}>
        <Body>
          {queue.tasks.map(({ task, ready, nodes }) => (
            <Tr key={task}>
              <Td className="fill">
                <Link className="cut" href={`/runs?task=${encodeURIComponent(task)}`}>
                  {task}
                </Link>
              </Td>
              <Td className="num" data-l="ready">
                {boundedLabel(ready)}
              </Td>
              <Td className={nodes === 0 ? 'num bad' : 'num'} data-l="nodes">
                {nodes === 0 ? (
                  <Badge tone="failed" glyph="failed">
                    none
                  </Badge>
                ) : (
                  nodes
                )}
              </Td>
            </Tr>
          ))}
        </Body>
      </Table>
    </Card>
  )
}

export function GroupsCard({ queue }: { readonly queue: QueueDetail }): ReactNode {
  const named = queue.groups.filter(({ group }) => group !== '')
  if (named.length === 0) return null
  const head = (
    <>
      <Th>Group</Th>
      <Th className="num">Weight</Th>
      <Th className="num">Ready</Th>
    </>
  )
  return (
    <Card title="Groups" sub={named.length >= 100 ? '100 with the most ready runs' : named.length}>
      <div className="scroll" tabIndex={0} role="group" aria-label="Groups">
        <Table label="Groups" head={head}>
          <Body>
            {named.map(({ group, weight, ready }) => (
              <Tr key={group}>
                <Td className="fill">
                  <Link
                    className="cut"
                    href={`/runs?group=${encodeURIComponent(group)}&queue=${encodeURIComponent(queue.queue)}`}
                  >
                    {group}
                  </Link>
                </Td>
                <Td className="num" data-l="weight">
                  {weight}
                </Td>
                <Td className="num" data-l="ready">
                  {boundedLabel(ready)}
                </Td>
              </Tr>
            ))}
          </Body>
        </Table>
      </div>
    </Card>
  )
}

export function KeysCard({ keys }: { readonly keys: readonly ContendedKey[] }): ReactNode {
  if (keys.length === 0) return null
  const head = (
    <>
      <Th>Key</Th>
      <Th>Scope</Th>
      <Th className="num">Waiting</Th>
      <Th className="num">Limit</Th>
      <Th>Held by</Th>
    </>
  )
  return (
    <Card title="Contended keys" sub="most waiting first">
      <Table label="Contended keys" head={head}>
        <Body>
          {keys.map(({ scope, key, limit, waiting, holders }) => (
            <Tr key={`${scope} ${key}`}>
              <Td className="id">{key}</Td>
              <Td className="mute end">{scope}</Td>
              <Td className="num" data-l="waiting">
                {boundedLabel(waiting)}
              </Td>
              <Td className="num" data-l="limit">
                {limit}
              </Td>
              <Td className="whole">
                {holders.length === 0 ? (
                  <span className="warn">no run holds it</span>
                ) : (
                  holders.slice(0, 4).map((holder) => (
                    <span key={holder.runId} className="nw">
                      <Link className="id link" href={`/runs/${holder.runId}`}>
                        {holder.runId}
                      </Link>
                      <span className="mute"> {holder.name ?? holder.status.toLowerCase()} </span>
                    </span>
                  ))
                )}
                {holders.length > 4 ? (
                  <span className="mute">and {several(holders.length - 4, 'more', 'more')}</span>
                ) : null}
              </Td>
            </Tr>
          ))}
        </Body>
      </Table>
    </Card>
  )
}
