/** Whether this session may do something now, and if not, why: shown on the button instead of a refusal after the click. */
import type { Scope, Session } from '../api/contract.ts'
import { useData } from '../api/use-data.ts'
import { useConnectionPart } from '../live/connection.ts'

const order: readonly Scope[] = ['read', 'enqueue', 'admin']

/** Undefined: it may. */
export function useRefusal(needs: Scope): string | undefined {
  const away = useConnectionPart('away')
  const session = useSession()
  if (away !== null) return away.what === 'database' ? 'The database is away.' : 'The server does not answer.'
  if (session === undefined) return undefined
  if (session.readOnly) return 'This server is read-only.'
  return order.indexOf(session.scope) < order.indexOf(needs)
    ? `Your token has the scope ${session.scope}; this needs ${needs}.`
    : undefined
}

export function useSession(): Session | undefined {
  return useData<Session>('/session', { everyMs: 60_000 }).data
}
