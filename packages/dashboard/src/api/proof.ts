/**
 * The half of the session that the page keeps. The other half is a cookie that scripts cannot read; a request needs both. The
 * proof is stored by origin, so a server on another port of this host, which does receive the cookie, does not have it.
 */
const key = 'q-proof'

export function storedProof(): string | null {
  return localStorage.getItem(key)
}

export function storeProof(proof: string | null): void {
  if (proof === null) localStorage.removeItem(key)
  else localStorage.setItem(key, proof)
}

/** The token of a link `…/#token=…`, removed from the address and the history; undefined: the link has none. */
export function takeTokenFromAddress(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (token === null) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  return token
}
