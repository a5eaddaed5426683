/** Enqueues a run of a task that a node has published. */
import type { ReactNode } from 'react'
import { useSearchParams } from 'wouter'
import type { Items, PublishedTask } from '../../api/contract.ts'
import { useData } from '../../api/use-data.ts'
import { Card, Empty, Head, Pending } from '../../parts/card.tsx'
import { EnqueueForm } from './enqueue-form.tsx'

export function EnqueuePage(): ReactNode {
  const { data, error } = useData<Items<PublishedTask>>('/tasks', { everyMs: 30_000 })
  const [search, setSearch] = useSearchParams()
  const chosen = data?.items.find(({ name }) => name === search.get('task')) ?? data?.items[0]
  return (
    <>
      <Head title="Enqueue" />
      {data === undefined ? (
        <Card label="Enqueue">
          <Pending error={error} rows={5} />
        </Card>
      ) : chosen === undefined ? (
        <Card label="Enqueue">
          <Empty title="No task is published" command="q start">
            <p>A node publishes its tasks when it starts.</p>
          </Empty>
        </Card>
      ) : (
        <EnqueueForm key={chosen.name} task={chosen} tasks={data.items} onTask={(task) => setSearch({ task })} />
      )}
    </>
  )
}
