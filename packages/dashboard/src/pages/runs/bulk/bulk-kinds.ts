/** The actions on many runs, and the states in which each is possible. */
export const can = {
  cancel: ['pending', 'available', 'claimed', 'running'],
  retry: ['failed', 'cancelled', 'expired'],
} as const

export type BulkKind = keyof typeof can

export const verbs: Readonly<Record<BulkKind, string>> = { cancel: 'Cancel', retry: 'Retry' }
