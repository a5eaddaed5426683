/**
 * The destinations of `Q_DESTINATIONS_FILE`. The replica that starts last has the newest file: it creates and changes what the
 * file declares, and removes what an earlier file declared. Destinations that people created stay as they are.
 */
import { readFile } from 'node:fs/promises'
import { ExplainedError } from '@q/schema'
import type { DestinationInput, Store } from '@q/store'
import { errorMessage } from '../../output/error-message.ts'
import { loadDestinations } from './load-destinations.ts'

export async function declareDestinations(
  store: Pick<Store, 'putDestination' | 'removeUndeclared'>,
  file: string | null,
): Promise<void> {
  if (file === null) return
  const declared = await readDestinations(file)
  for (const destination of declared) await store.putDestination(destination, { declared: true })
  await store.removeUndeclared(declared.map(({ name }) => name))
}

/** Checks every destination before it returns any. */
async function readDestinations(file: string): Promise<readonly DestinationInput[]> {
  const given = await readJson(file)
  if (!Array.isArray(given)) throw wrongFile(file, ['It is not a list of destinations.'])
  const { destinationProblems } = await loadDestinations()
  const problems = given.flatMap((one: unknown, index) =>
    destinationProblems(one).map((problem) => `${nameOf(one, index)}: ${problem}`),
  )
  const names = given.map((one: unknown, index) => nameOf(one, index))
  for (const name of new Set(names.filter((one, index) => names.indexOf(one) !== index)))
    problems.push(`${name}: it is declared twice.`)
  if (problems.length > 0) throw wrongFile(file, problems)
  return given as DestinationInput[]
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as unknown
  } catch (error) {
    throw wrongFile(file, [errorMessage(error)])
  }
}

function nameOf(given: unknown, index: number): string {
  const name: unknown = typeof given === 'object' && given !== null ? Reflect.get(given, 'name') : undefined
  return typeof name === 'string' ? name : `destination ${index + 1}`
}

function wrongFile(file: string, problems: readonly string[]): ExplainedError {
  return new ExplainedError({
    code: 'DESTINATION_INVALID',
    what: `Q_DESTINATIONS_FILE cannot be used; no destination was changed:\n${problems.map((problem) => `    ${problem}`).join('\n')}`,
    why: `The file ${file} says so.`,
    fix: 'Correct the file; docs/reference/destinations.md describes it.',
  })
}
