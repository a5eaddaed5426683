/** The evidence by which a run was recovered, in words. */
const words: Readonly<Record<string, string>> = {
  'never-alive': 'the node was never alive',
  presence: 'the session of the node ended',
  'replica-beat': 'no heartbeat of the node',
  'claimer-beat': 'no heartbeat of the claim',
  'runner-beat': 'no heartbeat of the run',
  reconciled: 'the node no longer executes it',
}

/** The words for a cause of the API; a cause that this page does not know stays as it is. */
export function causeInWords(cause: string): string {
  return words[cause] ?? cause
}
