/** The form of a run: fields from the schema that the task publishes, or JSON; its options; and the command that does the same. */
import { useState, type FormEvent, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import type { PublishedTask } from '../../api/contract.ts'
import { RequestProblem } from '../../api/problem.ts'
import { request } from '../../api/request.ts'
import { useRefusal } from '../../app/may.ts'
import { Card, ProblemNotice } from '../../parts/card.tsx'
import { CliLine } from '../../parts/cli-line.tsx'
import { pretty } from '../../parts/json/lossless.ts'
import { Segments } from '../../parts/segments.tsx'
import { say } from '../../parts/toasts.tsx'
import { FieldInput, Fields } from './field-input.tsx'
import { placedIssues, pointersOf } from './issues.ts'
import { payloadFrom, payloadFromJson, type Values } from './payload-from.ts'
import { bodyOf, enqueueCommandLine, noOptions, problemsOf, RunOptionFields } from './run-options.tsx'
import { type Field, formOf } from './schema-form.ts'

interface Props {
  readonly task: PublishedTask
  readonly tasks: readonly PublishedTask[]
  readonly onTask: (name: string) => void
}

const jsonField: Field = {
  name: 'Payload',
  pointer: '',
  kind: 'json',
  isRequired: true,
  isNullable: false,
  choices: [],
  initial: '{}',
  hint: '',
}

export function EnqueueForm({ task, tasks, onTask }: Props): ReactNode {
  const form = useForm(task)
  const { fields, mode, typed, issues, problem } = form
  const refusal = useRefusal('enqueue')
  return (
    <Card title="A run" sub={`goes into the queue ${task.queue}`}>
      <form className="form pad" noValidate onSubmit={(event) => void form.submit(event)}>
        <TaskSelect task={task} tasks={tasks} onTask={onTask} />
        {fields === undefined ? null : (
          <Segments
            legend="Payload as"
            options={[
              { value: 'form', label: 'form' },
              { value: 'json', label: 'JSON' },
            ]}
            value={mode}
            onChange={form.switchTo}
          />
        )}
        {mode === 'form' && fields !== undefined ? (
          <Fields fields={fields} values={form.values} problems={issues.payload} onChange={form.setValue} />
        ) : (
          <FieldInput
            field={{ ...jsonField, hint: fields === undefined ? 'The task publishes no schema.' : '' }}
            value={form.json}
            problem={issues.payload['']}
            onChange={form.setJson}
          />
        )}
        <RunOptionFields options={form.options} problems={issues.options} onChange={form.setOptions} />
        {problem === undefined || issues.isComplete ? null : <ProblemNotice problem={problem} />}
        <div className="toolbar">
          <button type="submit" className="btn pri" disabled={refusal !== undefined || form.busy} title={refusal}>
            Enqueue {task.name}
          </button>
          <CliLine command={enqueueCommandLine(task.name, typed.text, form.options)} />
        </div>
      </form>
    </Card>
  )
}

function useForm(task: PublishedTask) {
  const fields = formOf(task.payloadSchema)
  const [mode, setMode] = useState<'form' | 'json'>(fields === undefined ? 'json' : 'form')
  const [values, setValues] = useState<Values>({})
  const [json, setJson] = useState('{}')
  const [options, setOptions] = useState(noOptions)
  const [problem, setProblem] = useState<RequestProblem>()
  const [tried, setTried] = useState(false)
  const [busy, setBusy] = useState(false)
  const [, navigate] = useLocation()
  const isForm = fields !== undefined && mode === 'form'
  const typed = isForm ? payloadFrom(fields, values) : payloadFromJson(json)
  const wrong = { payload: typed.problems, options: problemsOf(options) }
  const placed = placedIssues(problem, new Set(isForm ? pointersOf(fields) : ['']))
  /** What the server said is about what was sent, not about what is typed now. */
  const changing =
    <Args extends readonly unknown[]>(change: (...args: Args) => void) =>
    (...args: Args) => {
      setProblem(undefined)
      change(...args)
    }

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    setTried(true)
    if (Object.keys(wrong.payload).length + Object.keys(wrong.options).length > 0) return
    setBusy(true)
    try {
      const body = { task: task.name, payloadText: typed.text, ...bodyOf(options) }
      const { runId } = await request<{ runId: string }>('POST', '/runs', { body })
      say(`Run ${runId} is enqueued.`)
      navigate(`/runs/${runId}`)
    } catch (error) {
      if (!(error instanceof RequestProblem)) throw error
      setProblem(error)
    } finally {
      setBusy(false)
    }
  }
  return {
    fields,
    mode,
    values,
    json,
    options,
    typed,
    problem,
    busy,
    submit,
    issues: {
      ...placed,
      payload: { ...placed.payload, ...(tried ? wrong.payload : {}) },
      options: { ...placed.options, ...(tried ? wrong.options : {}) },
    },
    setValue: changing((pointer: string, value: string) => setValues({ ...values, [pointer]: value })),
    setJson: changing(setJson),
    setOptions: changing(setOptions),
    switchTo: changing((next: 'form' | 'json') => {
      if (next === 'json') setJson(pretty(typed.text))
      setMode(next)
    }),
  }
}

function TaskSelect({ task, tasks, onTask }: Props): ReactNode {
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
