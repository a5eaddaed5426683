/** The routes of the page. Only the page with the graph is loaded when it is opened. */
import { lazy, Suspense, type ReactNode } from 'react'
import { Link, Route, Switch } from 'wouter'
import { QueuesPage } from '../pages/queues/queues-page.tsx'
import { QueuePage } from '../pages/queues/queue-page.tsx'
import { WorkflowsPage } from '../pages/workflows/workflows-page.tsx'
import { ErrorsPage } from '../pages/errors/errors-page.tsx'
import { ErrorPage } from '../pages/errors/error-page.tsx'
import { RecoveriesPage } from '../pages/recoveries/recoveries-page.tsx'
import { HeartbeatsPage } from '../pages/heartbeats/heartbeats-page.tsx'
import { DeliveriesPage } from '../pages/deliveries/deliveries-page.tsx'
import { AuditPage } from '../pages/audit/audit-page.tsx'
import { OperationsPage } from '../pages/operations/operations-page.tsx'
import { EnqueuePage } from '../pages/enqueue/enqueue-page.tsx'
import { NodePage } from '../pages/nodes/node-page.tsx'
import { NodesPage } from '../pages/nodes/nodes-page.tsx'
import { OverviewPage } from '../pages/overview/overview-page.tsx'
import { RunPage } from '../pages/run/run-page.tsx'
import { RunsPage } from '../pages/runs/runs-page.tsx'
import { SchedulePage } from '../pages/schedules/schedule-page.tsx'
import { SchedulesPage } from '../pages/schedules/schedules-page.tsx'
import { Card, Empty, Head, Skeleton } from '../parts/card.tsx'

const WorkflowPage = lazy(() => import('../pages/workflows/workflow-page.tsx'))

export function Routes(): ReactNode {
  return (
    <Suspense fallback={<Skeleton />}>
      <Switch>
        <Route path="/" component={OverviewPage} />
        <Route path="/runs" component={RunsPage} />
        <Route path="/runs/:id">{({ id }) => <RunPage key={id} id={id} />}</Route>
        <Route path="/nodes" component={NodesPage} />
        <Route path="/nodes/:id">{({ id }) => <NodePage key={id} id={id} />}</Route>
        <Route path="/queues" component={QueuesPage} />
        <Route path="/queues/:name">{({ name }) => <QueuePage key={name} name={name} />}</Route>
        <Route path="/workflows" component={WorkflowsPage} />
        <Route path="/workflows/:id">{({ id }) => <WorkflowPage key={id} id={id} />}</Route>
        <Route path="/schedules" component={SchedulesPage} />
        <Route path="/schedules/:name">{({ name }) => <SchedulePage key={name} name={name} />}</Route>
        <Route path="/errors" component={ErrorsPage} />
        <Route path="/errors/:fingerprint">
          {({ fingerprint }) => <ErrorPage key={fingerprint} fingerprint={fingerprint} />}
        </Route>
        <Route path="/recoveries" component={RecoveriesPage} />
        <Route path="/heartbeats" component={HeartbeatsPage} />
        <Route path="/deliveries" component={DeliveriesPage} />
        <Route path="/audit" component={AuditPage} />
        <Route path="/operations" component={OperationsPage} />
        <Route path="/enqueue" component={EnqueuePage} />
        <Route>
          <NoSuchPage />
        </Route>
      </Switch>
    </Suspense>
  )
}

function NoSuchPage(): ReactNode {
  return (
    <>
      <Head title="No such page" />
      <Card label="No such page">
        <Empty title="There is no such page">
          <p>The pages are in the list on the left, or under More on a phone.</p>
          <Link href="/" className="btn">
            Overview
          </Link>
        </Empty>
      </Card>
    </>
  )
}
