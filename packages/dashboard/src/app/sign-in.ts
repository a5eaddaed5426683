/** Exchanges a token for a session: the cookie comes with the answer, the proof is kept by the page. */
import { RequestProblem } from '../api/problem.ts'
import { storeProof } from '../api/proof.ts'
import { request } from '../api/request.ts'
import { connection } from '../live/connection.ts'

/** Returns the problem if the token was not accepted. */
export async function signIn(token: string): Promise<RequestProblem | undefined> {
  try {
    const { proof } = await request<{ proof: string }>('POST', '/session', { body: { token } })
    storeProof(proof)
    connection.signedIn()
    return undefined
  } catch (error) {
    if (!(error instanceof RequestProblem)) throw error
    connection.signedOut()
    return error
  }
}

export async function signOut(): Promise<void> {
  await request('DELETE', '/session').catch(() => {})
  storeProof(null)
  connection.signedOut()
}
