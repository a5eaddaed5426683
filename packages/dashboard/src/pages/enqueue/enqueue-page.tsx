/** Enqueues a run: a form from the schema that the task publishes, or JSON. */
import { useState, type FormEvent, type ReactNode } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import type { Items, PublishedTask } from '../../api/contract.ts'
import { ApiProblem } from '../../api/problem.ts'
import { request } from '../../api/request.ts'
import { useData } from '../../api/use-data.ts'
import { useRefusal } from '../../app/may.ts'
import { Card, Empty, Head, Pending, Problem } from '../../parts/card.tsx'
import { CliLine, quoted } from '../../parts/cli-line.tsx'
import { parseLossless, pretty } from '../../parts/json/lossless.ts'
import { Segments } from '../../parts/segments.tsx'
import { say } from '../../parts/toasts.tsx'
import { FieldInput } from './field-input.tsx'
import { fieldsOf, payloadFrom } from './schema-fields.ts'

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

interface FormProps {
  readonly task: PublishedTask
  readonly tasks: readonly PublishedTask[]
  readonly onTask: (name: string) => void
}

const jsonField = { name: 'payload', kind: 'json', isRequired: true, options: [], initial: '{}' } as const

function EnqueueForm({ task, tasks, onTask }: FormProps): ReactNode {
  const fields = fieldsOf(task.payloadSchema)
  const [mode, setMode] = useState<'form' | 'json'>(fields === undefined ? 'json' : 'form')
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [json, setJson] = useState('{}')
  const [options, setOptions] = useState<Options>({ group: '', priority: '', delay: '' })
  const [problem, setProblem] = useState<ApiProblem>()
  const [tried, setTried] = useState(false)
  const [, navigate] = useLocation()
  const refusal = useRefusal('enqueue')
  const typed =
    fields === undefined || mode === 'json'
      ? { text: json, problems: parseLossless(json) === undefined ? { json: 'This is not JSON.' } : {} }
      : payloadFrom(fields, values)
  const problems: Readonly<Record<string, string>> = { ...issuesOf(problem), ...(tried ? typed.problems : {}) }

  function switchTo(next: 'form' | 'json'): void {
    if (next === 'json') setJson(pretty(typed.text))
    setMode(next)
  }
  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    setTried(true)
    if (Object.keys(typed.problems).length > 0) return
    try {
      const { runId } = await request<{ runId: string }>('POST', '/runs', {
        body: bodyOf(task.name, typed.text, options),
      })
      say(`Run ${runId} is enqueued.`)
      navigate(`/runs/${runId}`)
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error
      setProblem(error)
    }
  }
  return (
    <Card title="A run" sub={`goes into the queue ${task.queue}`}>
      <form className="form pad" onSubmit={(event) => void submit(event)}>
        <TaskSelect task={task} tasks={tasks} onTask={onTask} />
        {fields === undefined ? null : (
          <Segments
            legend="Payload as"
            options={[
              { value: 'form', label: 'form' },
              { value: 'json', label: 'JSON' },
            ]}
            value={mode}
            onChange={switchTo}
          />
        )}
        {mode === 'form' && fields !== undefined ? (
          fields.map((field) => (
            <FieldInput
              key={field.name}
              field={field}
              value={values[field.name] ?? field.initial}
              problem={problems[field.name]}
              onChange={(value) => setValues({ ...values, [field.name]: value })}
            />
          ))
        ) : (
          <FieldInput
            field={{ ...jsonField, hint: fields === undefined ? 'The task publishes no schema.' : '' }}
            value={json}
            problem={problems['json']}
            onChange={setJson}
          />
        )}
        <RunOptions options={options} onChange={setOptions} />
        {problem === undefined || problem.issues.length > 0 ? null : <Problem problem={problem} />}
        <div className="toolbar">
          <button type="submit" className="btn pri" disabled={refusal !== undefined} title={refusal}>
            Enqueue {task.name}
          </button>
          <CliLine command={`q enqueue ${task.name} ${quoted(typed.text.replaceAll(/\s*\n\s*/g, ' '))}`} />
        </div>
      </form>
    </Card>
  )
}

function TaskSelect({ task, tasks, onTask }: FormProps): ReactNode {
  return (
    <div className="field">
      <label htmlFor="task">Task</label>
      <select id="task" className="input" value={task.name} onChange={(event) => onTask(event.target.value)}>
        {tasks.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </div>
  )
}

/** As typed. */
interface Options {
  readonly group: string
  readonly priority: string
  readonly delay: string
}

interface RunOptionsProps {
  readonly options: Options
  readonly onChange: (options: Options) => void
}

function RunOptions({ options, onChange }: RunOptionsProps): ReactNode {
  const { group, priority, delay } = options
  return (
    <div className="two-fields">
      <Option
        label="Group"
        hint="such as a tenant"
        value={group}
        onChange={(value) => onChange({ ...options, group: value })}
      />
      <Option
        label="Priority"
        hint="lower goes first"
        value={priority}
        onChange={(value) => onChange({ ...options, priority: value })}
      />
      <Option label="Delay" hint="seconds" value={delay} onChange={(value) => onChange({ ...options, delay: value })} />
    </div>
  )
}

function Option(props: {
  readonly label: string
  readonly hint: string
  readonly value: string
  readonly onChange: (value: string) => void
}): ReactNode {
  return (
    <label className="field">
      <span>
        {props.label} <span className="mute">{props.hint}</span>
      </span>
      <input className="input" value={props.value} onChange={(event) => props.onChange(event.target.value)} />
    </label>
  )
}

function bodyOf(task: string, payloadText: string, options: Options): object {
  return {
    task,
    payloadText,
    ...(options.group === '' ? {} : { group: options.group }),
    ...(options.priority === '' ? {} : { priority: Number(options.priority) }),
    ...(options.delay === '' ? {} : { delayMs: Math.round(Number(options.delay) * 1_000) }),
  }
}

/** What the server found wrong with the payload, at the field it is about. */
function issuesOf(problem: ApiProblem | undefined): Record<string, string> {
  const issues = problem?.issues ?? []
  return Object.fromEntries(
    issues.flatMap(({ path, message }) => [[path.replace(/^payload\.?/, '').split('.')[0] || 'json', message]]),
  )
}
