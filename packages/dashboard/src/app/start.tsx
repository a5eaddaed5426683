/** The page begins here: it takes the token of the link, opens the stream and draws. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import '../styles/page.css'
import { storedProof, takeTokenFromAddress } from '../api/proof.ts'
import { applyFrames } from '../live/apply-frames.ts'
import { connection } from '../live/connection.ts'
import { App } from './app.tsx'
import { signIn } from './sign-in.ts'

const cache = new QueryClient({
  defaultOptions: { queries: { retry: false, staleTime: 1_000, gcTime: 300_000, networkMode: 'always' } },
})
applyFrames(cache)
connection.onReturn(() => void cache.invalidateQueries())

const token = takeTokenFromAddress()
if (token !== undefined) await signIn(token)
else if (storedProof() === null) connection.signedOut()

// A link that is opened in a tab that has the page already changes only the fragment.
addEventListener('hashchange', () => {
  const another = takeTokenFromAddress()
  if (another !== undefined) void signIn(another)
})

const root = document.getElementById('root')
if (root === null) throw new Error('The page has no root element.')
createRoot(root).render(
  <QueryClientProvider client={cache}>
    <App />
  </QueryClientProvider>,
)
