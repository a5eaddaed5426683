/**
 * Keeps an error of one page to that page: the layout, the keys and the other pages continue to work. Also shown when a
 * part of the page cannot be loaded, as after an update of the server.
 */
import { Component, type ReactNode } from 'react'
import { Glyph } from '../parts/glyph.tsx'
import { visibleText } from '../words/visible-text.ts'

interface Props {
  /** The address that is shown; another one is drawn afresh. */
  readonly path: string
  /** Forgets the data that pages have read, which may be what cannot be drawn. */
  readonly onForget: () => void
  readonly children: ReactNode
}

interface State {
  readonly fault: Error | null
  readonly path: string
}

export class PageError extends Component<Props, State> {
  override state: State = { fault: null, path: this.props.path }

  static getDerivedStateFromError(thrown: unknown): Partial<State> {
    return { fault: thrown instanceof Error ? thrown : new Error(String(thrown)) }
  }

  static getDerivedStateFromProps({ path }: Props, state: State): State | null {
    return path === state.path ? null : { fault: null, path }
  }

  override componentDidUpdate(_: Props, before: State): void {
    if (before.fault !== null && this.state.fault === null) this.props.onForget()
  }

  #tryAgain(): void {
    this.props.onForget()
    this.setState({ fault: null })
  }

  override render(): ReactNode {
    const { fault } = this.state
    if (fault === null) return this.props.children
    return (
      <section className="card" aria-label="Fault of the page">
        <div className="problem" role="alert">
          <h1>
            <Glyph name="failed" />
            This page cannot be drawn.
          </h1>
          <p className="any">{visibleText(fault.message)}</p>
          <p className="soft">
            The server and its runs are not affected. Reload; if it happens again, use the command line and report it.
          </p>
          <div className="toolbar">
            <button type="button" className="btn pri" onClick={() => location.reload()}>
              Reload
            </button>
            <button type="button" className="btn" onClick={() => this.#tryAgain()}>
              Try again
            </button>
          </div>
        </div>
      </section>
    )
  }
}
