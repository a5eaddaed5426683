/** One field of the form, with what is wrong with it beside it. */
import { useId, type ReactNode } from 'react'
import { Glyph } from '../../parts/glyph.tsx'
import type { Field } from './schema-fields.ts'

interface Props {
  readonly field: Field
  readonly value: string
  readonly problem: string | undefined
  readonly onChange: (value: string) => void
}

export function FieldInput({ field, value, problem, onChange }: Props): ReactNode {
  const id = useId()
  const shared = {
    id,
    className: 'input',
    'aria-invalid': problem !== undefined,
    'aria-describedby': `${id}-hint`,
    'aria-required': field.isRequired,
  }
  return (
    <div className="field">
      <label htmlFor={id}>
        {field.name} <span className="mute">{field.isRequired ? 'required' : 'optional'}</span>
      </label>
      {inputOf(field, value, shared, onChange)}
      <span className="hint" id={`${id}-hint`}>
        {field.hint}
      </span>
      {problem === undefined ? null : (
        <span className="err" role="alert">
          <Glyph name="failed" />
          {problem}
        </span>
      )}
    </div>
  )
}

function inputOf(field: Field, value: string, shared: object, onChange: (value: string) => void): ReactNode {
  switch (field.kind) {
    case 'choice':
    case 'boolean': {
      const options = field.kind === 'boolean' ? ['true', 'false'] : field.options
      return (
        <select {...shared} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">{field.isRequired ? 'choose' : 'not given'}</option>
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      )
    }
    case 'json':
      return (
        <textarea
          {...shared}
          rows={field.name === 'payload' ? 12 : 4}
          spellCheck={false}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )
    case 'number':
    case 'text':
      return (
        <input
          {...shared}
          inputMode={field.kind === 'number' ? 'decimal' : 'text'}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )
  }
}
