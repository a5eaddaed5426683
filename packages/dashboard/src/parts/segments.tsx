/** A choice of one among few, as radio buttons that look like one control. */
import { useId, type ReactNode } from 'react'

interface Props<T extends string> {
  readonly legend: string
  readonly options: readonly { readonly value: T; readonly label: string }[]
  readonly value: T
  readonly onChange: (value: T) => void
  readonly hideLegend?: boolean
}

export function Segments<T extends string>({
  legend,
  options,
  value,
  onChange,
  hideLegend = false,
}: Props<T>): ReactNode {
  const name = useId()
  return (
    <fieldset className="segset">
      <legend className={hideLegend ? 'vh' : ''}>{legend}</legend>
      <span className="seg">
        {options.map((option) => (
          <label key={option.value}>
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
            />
            {option.label}
          </label>
        ))}
      </span>
    </fieldset>
  )
}
