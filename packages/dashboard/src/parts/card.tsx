/** A card with its header, the head of a page with its figures, and what a card shows when it has nothing to show. */
import { useEffect, useId, useState, type ReactNode } from 'react'
import type { RequestProblem } from '../api/problem.ts'
import { CliLine } from './cli-line.tsx'
import { Glyph } from './glyph.tsx'

interface CardProps {
  readonly title?: ReactNode
  readonly sub?: ReactNode
  readonly end?: ReactNode
  readonly className?: string
  readonly label?: string
  readonly children: ReactNode
}

export function Card({ title, sub, end, className = '', label, children }: CardProps): ReactNode {
  const id = useId()
  const named = title === undefined ? { 'aria-label': label } : { 'aria-labelledby': id }
  return (
    <section className={`card ${className}`} {...named}>
      {title === undefined ? null : (
        <header>
          <h2 id={id}>{title}</h2>
          {sub === undefined ? null : <span className="sub">{sub}</span>}
          {end === undefined ? null : <div className="end">{end}</div>}
        </header>
      )}
      {children}
    </section>
  )
}

interface HeadProps {
  /** Also the title of the tab. */
  readonly title: string
  readonly before?: ReactNode
  readonly className?: string
  readonly children?: ReactNode
}

export function Head({ title, before, className = '', children }: HeadProps): ReactNode {
  useEffect(() => {
    document.title = `${title} · q`
  }, [title])
  return (
    <div className={`head ${className}`}>
      {before}
      <h1>{title}</h1>
      {children}
    </div>
  )
}

export interface Figure {
  readonly name: string
  readonly value: ReactNode
  readonly unit?: string
}

/** One quiet line of numbers. */
export function FigureLine({ of }: { readonly of: readonly Figure[] }): ReactNode {
  return (
    <dl className="figs">
      {of.map(({ name, value, unit }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value}
            {unit === undefined ? null : <small>{unit}</small>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

export function Empty(props: {
  readonly title: string
  readonly children?: ReactNode
  readonly command?: string
}): ReactNode {
  return (
    <div className="empty">
      <h2>{props.title}</h2>
      {props.children}
      {props.command === undefined ? null : <CliLine command={props.command} />}
    </div>
  )
}

const patienceMs = 150

/** Rows in the final geometry, after a moment in which nothing is drawn. */
export function Skeleton({ rows = 6 }: { readonly rows?: number }): ReactNode {
  const [shown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), patienceMs)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div className="skeleton" role="status">
      <span className="vh">Loading</span>
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} aria-hidden="true">
          {shown ? (
            <>
              <i />
              <i />
              <i />
            </>
          ) : null}
        </span>
      ))}
    </div>
  )
}

export function ProblemNotice({ problem }: { readonly problem: RequestProblem }): ReactNode {
  return (
    <div className="problem" role="alert">
      <h2>
        <Glyph name="failed" />
        {problem.title}
      </h2>
      {problem.why === null ? null : <p>{problem.why}</p>}
      {problem.fix === null ? null : <p className="soft">{problem.fix}</p>}
      <p className="mute small mono">{problem.code}</p>
    </div>
  )
}

/** Shown instead of data that has not arrived: its problem, or the skeleton. */
export function Pending({ error, rows }: { readonly error: RequestProblem | null; readonly rows?: number }): ReactNode {
  if (error !== null) return <ProblemNotice problem={error} />
  return <Skeleton {...(rows === undefined ? {} : { rows })} />
}
