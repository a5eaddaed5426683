/** One error: when, where, in which versions; its runs; retry all of them, or mute it. */
import { useState, type ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import type { ErrorGroup, Operation } from '../../api/contract.ts'
import type { RunCount, RunSummaryPage } from '../../api/run-contract.ts'
import { useAct } from '../../api/use-act.ts'
import { useData } from '../../api/use-data.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { Badge } from '../../parts/badge.tsx'
import { Card, Empty, FigureLine, Head, Pending } from '../../parts/card.tsx'
import { CliLine } from '../../parts/cli-line.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Copy } from '../../parts/copy.tsx'
import { Ago, At } from '../../parts/time.tsx'
import { boundedLabel, countLabel } from '../../words/numbers.ts'
import { visibleText } from '../../words/visible-text.ts'
import { RunsTable } from '../runs/runs-table.tsx'
import { HoursChart } from './hours-chart.tsx'
import { MuteButton } from './mute-button.tsx'

export function ErrorPage({ fingerprint }: { readonly fingerprint: string }): ReactNode {
  const { data, error } = useData<ErrorGroup>(`/errors/${encodeURIComponent(fingerprint)}`)
  if (data === undefined)
    return (
      <>
        <Head title="Error" />
        <Card label="Error">
          <Pending error={error} rows={6} />
        </Card>
      </>
    )
  return <Loaded group={data} />
}

function Loaded({ group }: { readonly group: ErrorGroup }): ReactNode {
  return (
    <>
      <Head
        title={group.code}
        before={
          group.name === group.code ? null : (
            <Badge tone="failed" glyph="failed" big>
              {group.name}
            </Badge>
          )
        }
      >
        <span className="idl">
          <span className="id mute">{group.fingerprint.slice(0, 8)}</span>
          <Copy text={group.fingerprint} label="Copy the fingerprint" />
        </span>
        <FigureLine
          of={[
            { name: 'seen', value: countLabel(group.seen) },
            { name: 'first', value: <Ago at={group.firstSeen} /> },
            { name: 'last', value: <Ago at={group.lastSeen} /> },
          ]}
        />
      </Head>
      <div className="cols">
        <div className="stack">
          <Card label="Message" className="o1">
            <pre className="trace" tabIndex={0} role="group" aria-label="Message">
              {visibleText(group.message === '' ? group.name : group.message)}
              {group.place === null ? '' : <span className="far">{`\nat ${visibleText(group.place)}`}</span>}
            </pre>
          </Card>
          <HoursChart group={group} />
          <Runs group={group} />
        </div>
        <aside className="stack">
          <Actions group={group} />
          <Where group={group} />
        </aside>
      </div>
    </>
  )
}

function Where({ group }: { readonly group: ErrorGroup }): ReactNode {
  return (
    <Card title="Where">
      <dl className="facts pad">
        <dt>Tasks</dt>
        <dd>
          {group.tasks.map((task) => (
            <div key={task}>
              <Link className="link" href={`/runs?task=${encodeURIComponent(task)}&status=failed`}>
                {task}
              </Link>
            </div>
          ))}
        </dd>
        <dt>Versions</dt>
        <dd>{group.versions.join(', ')}</dd>
        <dt>Place</dt>
        <dd className="mono">{group.place === null ? 'not recorded' : visibleText(group.place)}</dd>
        <dt>First seen</dt>
        <dd>
          <At at={group.firstSeen} />
        </dd>
        <dt>Last seen</dt>
        <dd>
          <At at={group.lastSeen} />
        </dd>
        <dt>Last run</dt>
        <dd>
          <Link className="link id" href={`/runs/${group.lastRunId}`}>
            {group.lastRunId}
          </Link>
        </dd>
        {group.mutedUntil === null ? null : (
          <>
            <dt>Muted</dt>
            <dd>
              until <At at={group.mutedUntil} />
              {group.mutedBy === null ? '' : ` by ${group.mutedBy}`}
            </dd>
          </>
        )}
      </dl>
    </Card>
  )
}

function Actions({ group }: { readonly group: ErrorGroup }): ReactNode {
  const [asking, setAsking] = useState(false)
  const [, navigate] = useLocation()
  const { act, busy } = useAct()
  const failed = useData<RunCount>(`/runs/count?fingerprint=${group.fingerprint}&status=failed`, {
    everyMs: 10_000,
  }).data
  const command = `q retry --errors ${group.fingerprint.slice(0, 8)}`
  async function retry(): Promise<void> {
    const filter = { fingerprint: group.fingerprint, status: ['failed'] }
    const operation = await act<Operation>({
      method: 'POST',
      path: '/operations',
      body: { kind: 'retry', filter },
      done: () => undefined,
    })
    if (operation !== undefined) navigate(`/runs?error=${group.fingerprint}&operation=${operation.id}`)
  }
  return (
    <Card title="Actions" className="o2">
      <div className="pad stack8">
        <div className="acts-row">
          <ActButton
            look="pri"
            disabled={busy || failed === undefined || failed.count === 0}
            onClick={() => setAsking(true)}
          >
            {failed === undefined
              ? 'Retry…'
              : failed.count === 0
                ? 'None failed'
                : `Retry ${boundedLabel(failed)} ${failed.count === 1 ? 'run' : 'runs'}…`}
          </ActButton>
          <CliLine command={command} />
        </div>
        <MuteButton group={group} />
      </div>
      {asking && failed !== undefined ? (
        <Confirm
          title={`Retry ${boundedLabel(failed)} runs of this error?`}
          lead="Every run that ended FAILED with this error starts again. Runs that fail from now on are not touched. It goes on without this page and can be stopped."
          command={`${command} --yes`}
          button={`Retry ${boundedLabel(failed)} runs`}
          touches={failed.count}
          busy={busy}
          onConfirm={() => void retry()}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </Card>
  )
}

function Runs({ group }: { readonly group: ErrorGroup }): ReactNode {
  const { data, error } = useData<RunSummaryPage>(`/runs?fingerprint=${group.fingerprint}&limit=20`)
  return (
    <Card
      title="Runs"
      sub="the latest failure first"
      end={
        <Link className="btn ghost" href={`/runs?error=${group.fingerprint}`}>
          All of them
        </Link>
      }
    >
      {data === undefined ? (
        <Pending error={error} rows={5} />
      ) : data.runs.length === 0 ? (
        <Empty title="None of its runs is kept" />
      ) : (
        <RunsTable runs={data.runs} isShort />
      )}
    </Card>
  )
}
