/** Every node, with the age of its last heartbeat against its own threshold. A row opens to its threads, its drain or its loss. */
import { memo, useCallback, useDeferredValue, useMemo, useState, type ReactNode } from 'react'
import type { Items, Node } from '../../api/contract.ts'
import { useData } from '../../api/use-data.ts'
import { useKeys } from '../../app/keys.ts'
import { allNodes } from '../../live/apply-frames.ts'
import { useAtNow } from '../../live/use-now.ts'
import { Card, Empty, FigureLine, Head, Pending } from '../../parts/card.tsx'
import { byName } from '../../parts/node-name.tsx'
import { slotCountsOf } from '../../parts/strip.tsx'
import { Body, Table, Td, Th, Tr } from '../../parts/table.tsx'
import { DrainDialog } from './drain-dialog.tsx'
import { NodeRow } from './node-row.tsx'

const [day, minute] = [86_400_000, 60_000]
/** More than this many open rows make a page that is too long to read; a person opens the others. */
const openedMax = 8

export function NodesPage(): ReactNode {
  const { data, error } = useData<Items<Node>>(allNodes, { topic: 'nodes' })
  if (data === undefined)
    return (
      <>
        <Head title="Nodes" />
        <Card label="Nodes">
          <Pending error={error} rows={6} />
        </Card>
      </>
    )
  return <Loaded latest={data.items} />
}

/** A frame may renew a hundred rows: they are drawn in pieces, between which the page answers. */
function Loaded({ latest }: { readonly latest: readonly Node[] }): ReactNode {
  const nodes = useDeferredValue(latest)
  const now = useAtNow((at) => at - (at % minute))
  const living = useMemo(() => byName(nodes.filter(({ state }) => state === 'alive' || state === 'draining')), [nodes])
  const gone = useMemo(() => {
    const isRecent = ({ state, stoppedAt }: Node) => state === 'stopped' && Date.parse(stoppedAt ?? '') > now - day
    return nodes.filter((node) => node.state === 'stale' || isRecent(node)).toReversed()
  }, [nodes, now])
  const slots = slotCountsOf(living)
  const lost = gone.filter(({ state }) => state === 'stale').length
  return (
    <>
      <Head title="Nodes">
        <FigureLine
          of={[
            { name: 'alive', value: living.filter(({ state }) => state === 'alive').length },
            { name: 'draining', value: living.filter(({ state }) => state === 'draining').length },
            { name: 'lost', value: lost },
            {
              name: 'slots busy',
              value: slots.busy,
              unit: ` / ${slots.total}`,
            },
          ]}
        />
      </Head>
      <Card label="Nodes">
        {living.length + gone.length === 0 ? (
          <Empty title="No node yet" command="q start">
            <p>A node executes runs. Start one here, or on as many machines as you like with the same database.</p>
          </Empty>
        ) : (
          <NodesTable living={living} gone={gone} />
        )}
      </Card>
    </>
  )
}

interface TableProps {
  readonly living: readonly Node[]
  readonly gone: readonly Node[]
}

const NodesTable = memo(function NodesTable({ living, gone }: TableProps): ReactNode {
  const all = [...living, ...gone]
  const [opened, setOpened] = useState<Readonly<Record<string, boolean>>>({})
  const [cursor, setCursor] = useState(-1)
  const [draining, setDraining] = useState<string>()
  const current = all[cursor]
  const opensMany = all.filter(opensByItself).length > openedMax
  const isOpen = (node: Node) => opened[node.id] ?? (!opensMany && living.length <= openedMax && opensByItself(node))
  const toggle = useCallback(
    (id: string, open: boolean) => setOpened((before) => ({ ...before, [id]: open })),
    [setOpened],
  )
  useKeys({
    j: () => setCursor(Math.min(all.length - 1, cursor + 1)),
    k: () => setCursor(Math.max(0, cursor - 1)),
    Enter: () => current !== undefined && toggle(current.id, !isOpen(current)),
    d: () => current?.state === 'alive' && setDraining(current.id),
  })
  const head = (
    <>
      <Th>Node</Th>
      <Th>State</Th>
      <Th>Beat age / stale after</Th>
      <Th>Slots</Th>
      <Th className="num">CPU</Th>
      <Th className="num">Memory</Th>
      <Th className="gap hide-m">Health</Th>
      <Th className="hide-m">Version</Th>
      <Th className="num">Up</Th>
      <Th>
        <span className="vh">Action</span>
      </Th>
    </>
  )
  const row = (node: Node) => (
    <NodeRow
      key={node.id}
      node={node}
      isOpen={isOpen(node)}
      isCurrent={node === current}
      onToggle={toggle}
      onDrain={setDraining}
    />
  )
  return (
    <>
      <Table label="Nodes" className="t-n sticky" head={head}>
        <Body>{living.map(row)}</Body>
        {gone.length === 0 ? null : (
          <Body>
            <Tr className="grp">
              <Td colSpan={10}>Lost, or gone in the last 24 h</Td>
            </Tr>
            {gone.map(row)}
          </Body>
        )}
      </Table>
      {draining === undefined ? null : <DrainDialog id={draining} onClose={() => setDraining(undefined)} />}
    </>
  )
})

/** Whether a person on call wants to see the details of the node without a click. */
function opensByItself(node: Node): boolean {
  return node.state === 'draining' || node.state === 'stale' || node.threads.some(({ state }) => state === 'stopping')
}
