/** Shown when there is no session. The same answer for a missing and a wrong token. */
import { useState, type FormEvent, type ReactNode } from 'react'
import type { RequestProblem } from '../api/problem.ts'
import { CliLine } from '../parts/cli-line.tsx'
import { Glyph } from '../parts/glyph.tsx'
import { Mark } from '../parts/icon.tsx'
import { signIn } from './sign-in.ts'

export function Login(): ReactNode {
  const [token, setToken] = useState('')
  const [problem, setProblem] = useState<RequestProblem>()
  const [busy, setBusy] = useState(false)
  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    setBusy(true)
    setProblem(await signIn(token.trim()))
    setBusy(false)
  }
  return (
    <main className="login" id="main">
      <h1 className="brand">
        <Mark />q
      </h1>
      <form className="card" onSubmit={(event) => void submit(event)}>
        <div className="field">
          <label htmlFor="token">Token</label>
          <input
            id="token"
            className="input mono"
            type="password"
            autoComplete="current-password"
            required
            value={token}
            aria-invalid={problem !== undefined}
            aria-describedby="token-hint"
            onChange={(event) => setToken(event.target.value)}
          />
          {problem === undefined ? null : (
            <p className="err" role="alert">
              <Glyph name="failed" />
              {problem.status === 401 ? 'This token was not accepted.' : problem.title}
            </p>
          )}
          <p className="hint" id="token-hint">
            The link that the server printed carries it. This prints it again:
          </p>
          <CliLine command="q open" />
        </div>
        <button type="submit" className="btn pri" disabled={busy}>
          Open
        </button>
      </form>
    </main>
  )
}
