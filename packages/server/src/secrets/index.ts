/** For programs that load no server: hides the secrets in values that users stored, and finds the file of the token. */
export { tokenPlace } from '../auth/token-place.ts'
export { hidingReads } from './hiding-reads.ts'
export { hidden } from './secrets.ts'
export { secretsOf } from './secrets-of.ts'
