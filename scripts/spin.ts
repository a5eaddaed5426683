/**
 * `pnpm spin`: searches every state of the models in packages/store/spin, sound and with each fault built in. A law that
 * is broken by the sound model, a fault that breaks none, and a search that was not exhaustive are red (exit code 1).
 * Without Spin or a C compiler nothing is searched (exit code 3). `--deep` also searches what takes minutes.
 */
import { scriptOptions } from '@q/schema/script-options'
import { searchAll, type SearchResult } from './spin/searches.ts'
import { missingTools } from './spin/tools.ts'

const { deep } = scriptOptions('spin', { deep: { flag: true, means: 'also search what takes minutes' } })
const missing = await missingTools()
process.exitCode = missing.length === 0 ? await report() : cannot(missing)

async function report(): Promise<number> {
  const searched = await searchAll({ deep, onResult: (one) => console.log(lineOf(one)) })
  const good = (list: readonly SearchResult[]) => `${list.filter((one) => one.asExpected).length} of ${list.length}`
  const sound = searched.filter((one) => one.why === undefined)
  const faulty = searched.filter((one) => one.why !== undefined)
  console.log(`${good(sound)} searches of the sound model found nothing; ${good(faulty)} faults were caught.`)
  return searched.every((one) => one.asExpected) ? 0 : 1
}

function lineOf({ name, outcome, seconds, asExpected, why }: SearchResult): string {
  const size = outcome.kind === 'incomplete' ? '' : `${outcome.states} states, depth ${outcome.depth}`
  return `${asExpected ? 'ok ' : 'RED'} ${name.padEnd(28)} ${seconds.toFixed(1).padStart(5)} s  ${size.padEnd(30)} ${said()}`

  function said(): string {
    if (outcome.kind === 'sound') return why === undefined ? 'every law holds' : `NOT CAUGHT. ${why}`
    if (outcome.kind === 'broken') return `${why === undefined ? 'BROKEN' : 'breaks'}: ${outcome.law}`
    return `NOT EXHAUSTIVE: ${outcome.why}`
  }
}

function cannot(reasons: readonly string[]): number {
  console.error(`Nothing was searched. ${reasons.join('. ')}.`)
  return 3
}
