/**
 * The order of scopes: read, enqueue and admin each include the ones before. `work` is for workers, which read and
 * enqueue nothing; only admin includes it.
 */
import type { Scope } from '../api/route.ts'

export const tokenScopes = ['read', 'enqueue', 'work', 'admin'] as const
export type TokenScope = (typeof tokenScopes)[number]

const included: Readonly<Record<TokenScope, readonly Scope[]>> = {
  read: ['open', 'read'],
  enqueue: ['open', 'read', 'enqueue'],
  work: ['open', 'work'],
  admin: ['open', 'read', 'enqueue', 'work', 'admin'],
}

export function includesScope(scope: TokenScope, needed: Scope): boolean {
  return included[scope].includes(needed)
}
