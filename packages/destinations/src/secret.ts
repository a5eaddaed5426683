/**
 * Reads the secrets of destinations. Settings name the environment variable or file that holds the secret, never the
 * secret itself. Each use reads it again, so a rotated secret takes effect without a restart.
 */
import { readFile } from 'node:fs/promises'

export interface SecretSource {
  readonly variable?: string | undefined
  readonly file?: string | undefined
}

export type Secret = { readonly value: string } | { readonly missing: string }

export async function readSecret(
  { variable, file }: SecretSource,
  env: (variable: string) => string | undefined,
): Promise<Secret> {
  if (file !== undefined) return await readSecretFile(file)
  const value = env(variable ?? '')?.trim() ?? ''
  if (value === '') return { missing: `The environment variable ${variable} is not set on this replica.` }
  return { value }
}

async function readSecretFile(file: string): Promise<Secret> {
  try {
    const value = (await readFile(file, 'utf8')).trim()
    return value === '' ? { missing: `The file ${file} is empty.` } : { value }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    return { missing: `The file ${file} cannot be read on this replica (${code}).` }
  }
}
