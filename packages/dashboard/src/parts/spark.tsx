/** A line or bars in a table row; the table beside it has the numbers. */
import type { ReactNode } from 'react'

/** From zero: nine waiting runs are not drawn as none because there were more before. */
export function Spark({ values }: { readonly values: readonly number[] }): ReactNode {
  if (values.length < 2) return <span className="mute">–</span>
  const max = Math.max(...values, 1)
  const x = (index: number) => 1 + (index / (values.length - 1)) * 76
  const y = (value: number) => 18 - (value / max) * 16
  const points = values.map((value, index) => `${x(index).toFixed(1)} ${y(value).toFixed(1)}`)
  const last = values.at(-1) ?? 0
  return (
    <svg className="spark" viewBox="0 0 80 20" aria-hidden="true">
      <path d={`M${points.join('L')}`} />
      <circle cx={x(values.length - 1)} cy={y(last)} r="1.75" />
    </svg>
  )
}

export function SparkBars({ values, tone }: { readonly values: readonly number[]; readonly tone: string }): ReactNode {
  const max = Math.max(...values, 1)
  const width = 120 / Math.max(values.length, 1)
  return (
    <svg className={`spark bars ${tone}`} viewBox="0 0 120 20" preserveAspectRatio="none" aria-hidden="true">
      {values.map((value, index) => {
        const height = value === 0 ? 0.75 : Math.max(2, (value / max) * 18)
        return (
          <rect
            key={index}
            className={value === 0 ? 'none' : ''}
            x={index * width + 0.5}
            y={20 - height}
            width={Math.max(1, width - 1.5)}
            height={height}
          />
        )
      })}
    </svg>
  )
}
