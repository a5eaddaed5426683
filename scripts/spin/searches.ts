/** All searches, a few at a time, and what is expected of each: the sound model keeps every law, a fault breaks one. */
import { availableParallelism } from 'node:os'
import { modelFaults } from './faults.ts'
import { deepScenes, scenes, type Scene } from './scenes.ts'
import { search } from './search.ts'
import type { SearchOutcome } from './search-outcome.ts'

export interface SearchResult {
  readonly name: string
  /** Of a fault: what goes wrong with it. */
  readonly why?: string
  readonly outcome: SearchOutcome
  readonly seconds: number
  readonly asExpected: boolean
}

interface PlannedSearch {
  readonly name: string
  readonly scene: Scene
  readonly fault?: string
  readonly why?: string
}

export interface SearchOptions {
  /** Also what takes minutes. */
  readonly deep?: boolean
  /** Only one fault of each scene. */
  readonly short?: boolean
  readonly onResult?: (searched: SearchResult) => void
}

/** Each takes up to half a gigabyte, a deep one more. */
const atOnceMax = 4

/** In the order in which they end. */
export async function searchAll(options: SearchOptions = {}): Promise<SearchResult[]> {
  const { deep = false, short = false, onResult } = options
  const faults = short
    ? scenes.flatMap((scene) => modelFaults.find((fault) => fault.scene === scene) ?? [])
    : modelFaults
  const wanted: PlannedSearch[] = [
    ...[...scenes, ...(deep ? deepScenes : [])].map((scene) => ({ name: scene.name, scene })),
    ...faults.map(({ name, scene, why }) => ({ name, scene, why, fault: name })),
  ]
  const done: SearchResult[] = []
  const work = async () => {
    for (let next = wanted.shift(); next !== undefined; next = wanted.shift()) {
      const searched = await searchOne(next)
      done.push(searched)
      onResult?.(searched)
    }
  }
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), atOnceMax) }, work))
  return done
}

async function searchOne({ name, scene, fault, why }: PlannedSearch): Promise<SearchResult> {
  const began = performance.now()
  const outcome = await search(scene, fault)
  const seconds = (performance.now() - began) / 1000
  const asExpected = outcome.kind === (fault === undefined ? 'sound' : 'broken')
  return { name, outcome, seconds, asExpected, ...(why === undefined ? {} : { why }) }
}
