/** A field of the form, or a group of fields, with what is wrong with it beside it. */
import { useId, type ReactNode } from 'react'
import { Glyph } from '../../parts/glyph.tsx'
import type { Problems, Values } from './payload-from.ts'
import type { Field, FormField } from './schema-form.ts'

interface Shared {
  readonly id: string
  readonly className: string
  readonly 'aria-invalid': boolean
  readonly 'aria-describedby': string
}

interface FrameProps {
  readonly label: string
  readonly beside: string
  readonly hint: string
  readonly problem: string | undefined
  readonly children: (shared: Shared) => ReactNode
}

export function FieldFrame({ label, beside, hint, problem, children }: FrameProps): ReactNode {
  const id = useId()
  const about = `${id}-about`
  return (
    <div className="field">
      <label htmlFor={id}>
        {label} <span className="mute">{beside}</span>
      </label>
      {children({ id, className: 'input', 'aria-invalid': problem !== undefined, 'aria-describedby': about })}
      <div id={about}>
        {hint === '' ? null : <span className="hint">{hint}</span>}
        {problem === undefined ? null : (
          <span className="err" role="alert">
            <Glyph name="failed" />
            {problem}
          </span>
        )}
      </div>
    </div>
  )
}

interface FieldsProps {
  readonly fields: readonly FormField[]
  readonly values: Values
  readonly problems: Problems
  readonly onChange: (pointer: string, value: string) => void
}

export function Fields({ fields, ...rest }: FieldsProps): ReactNode {
  return fields.map((field) => {
    if (field.kind !== 'group') {
      const { values, problems, onChange } = rest
      return (
        <FieldInput
          key={field.pointer}
          field={field}
          value={values[field.pointer] ?? field.initial}
          problem={problems[field.pointer]}
          onChange={(value) => onChange(field.pointer, value)}
        />
      )
    }
    return (
      <fieldset key={field.pointer} className="group">
        <legend>
          {field.name} <span className="mute">{field.isRequired ? 'required' : 'optional'}</span>
        </legend>
        {field.hint === '' ? null : <span className="hint">{field.hint}</span>}
        {rest.problems[field.pointer] === undefined ? null : (
          <span className="err" role="alert">
            <Glyph name="failed" />
            {rest.problems[field.pointer]}
          </span>
        )}
        <Fields fields={field.fields} {...rest} />
      </fieldset>
    )
  })
}

interface InputProps {
  readonly field: Field
  readonly value: string
  readonly problem: string | undefined
  readonly onChange: (value: string) => void
}

export function FieldInput({ field, value, problem, onChange }: InputProps): ReactNode {
  return (
    <FieldFrame
      label={field.name}
      beside={field.isRequired ? 'required' : 'optional'}
      hint={field.hint}
      problem={problem}
    >
      {(shared) => inputOf(field, value, { ...shared, 'aria-required': field.isRequired }, onChange)}
    </FieldFrame>
  )
}

const yesNo = [
  { json: 'true', label: 'true' },
  { json: 'false', label: 'false' },
]

function inputOf(field: Field, value: string, shared: object, onChange: (value: string) => void): ReactNode {
  switch (field.kind) {
    case 'choice':
    case 'boolean':
      return (
        <select {...shared} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">{field.isNullable ? 'null' : field.isRequired ? 'choose' : 'not given'}</option>
          {(field.kind === 'boolean' ? yesNo : field.choices).map(({ json, label }) => (
            <option key={json} value={json}>
              {label}
            </option>
          ))}
        </select>
      )
    case 'json':
      return (
        <textarea
          {...shared}
          rows={field.pointer === '' ? 12 : 4}
          spellCheck={false}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )
    case 'number':
    case 'integer':
    case 'text':
      return (
        <input
          {...shared}
          inputMode={field.kind === 'text' ? 'text' : field.kind === 'integer' ? 'numeric' : 'decimal'}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )
  }
}
