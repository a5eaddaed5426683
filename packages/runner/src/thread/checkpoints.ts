/**
 * The checkpoint of a run for its later attempts: one JSON document, `{ "state": …, "once": { name: result } }`, saved
 * whole. So the state and the completed steps are always consistent, and one statement saves both.
 *
 * Saves are sent one after the other, in the order of the calls. A save that fails changes nothing.
 */
import { checkJson, jsonLimits, problemsText } from '@q/schema/json'
import { RequestRefused, type TaskContext } from '@q/task'
import { traceStep } from '@q/task/tracing'

export type Checkpoints = Pick<TaskContext, 'resumed' | 'checkpoint' | 'once'>

/** `stored`: the checkpoint of an earlier attempt. `save` resolves when it is stored. */
export function openCheckpoints(stored: string | null, save: (document: string) => Promise<unknown>): Checkpoints {
  const earlier = documentOf(stored)
  /** JSON texts. */
  let state = earlier.state === undefined ? undefined : JSON.stringify(earlier.state)
  const done = new Map(Object.entries(earlier.once ?? {}).map(([name, result]) => [name, JSON.stringify(result)]))
  const underWay = new Map<string, Promise<unknown>>()
  let lastSave: Promise<void> = Promise.resolve()

  /** Runs after the earlier saves, with the stored document; the new document counts once it is stored. */
  function saveWith(
    change: { readonly state: string } | { readonly name: string; readonly result: string },
  ): Promise<void> {
    const store = async () => {
      const isState = 'state' in change
      const nextState = isState ? change.state : state
      const nextDone = isState ? done : new Map([...done, [change.name, change.result]])
      await save(documentText(nextState, nextDone))
      state = nextState
      if (!isState) done.set(change.name, change.result)
    }
    lastSave = lastSave.catch(() => {}).then(store)
    return lastSave
  }

  async function doOnce(name: string, step: () => unknown): Promise<unknown> {
    const result = jsonOf(`The result of step "${name}"`, (await traceStep(name, step)) ?? null)
    await saveWith({ name, result })
    return JSON.parse(result)
  }

  return {
    resumed: earlier.state,
    async checkpoint(given) {
      await saveWith({ state: jsonOf('The checkpoint', given) })
    },
    async once(name, step) {
      const result = done.get(name)
      if (result !== undefined) return JSON.parse(result)
      const promise = underWay.get(name) ?? doOnce(name, step).finally(() => underWay.delete(name))
      underWay.set(name, promise)
      return promise as never
    },
  }
}

function documentText(state: string | undefined, done: ReadonlyMap<string, string>): string {
  const steps = [...done].map(([name, result]) => `${JSON.stringify(name)}:${result}`)
  const text = `{${state === undefined ? '' : `"state":${state},`}"once":{${steps.join(',')}}}`
  if (Buffer.byteLength(text) > jsonLimits.bytesMax) throw tooLarge()
  return text
}

interface Saved {
  readonly state?: unknown
  readonly once?: Readonly<Record<string, unknown>>
}

/** A document of another shape was saved by another program, for instance through the store: all of it is the state. */
function documentOf(stored: string | null): Saved {
  if (stored === null) return {}
  const document: unknown = JSON.parse(stored)
  const ours = typeof document === 'object' && document !== null && ('once' in document || 'state' in document)
  return ours ? (document as Saved) : { state: document }
}

function jsonOf(what: string, value: unknown): string {
  const checked = checkJson(value)
  if (checked.ok) return checked.text
  if (checked.problems[0].reason === 'too-large') throw tooLarge()
  throw new RequestRefused({
    code: 'CHECKPOINT_NOT_JSON',
    what: `${what} cannot be saved; nothing was changed.`,
    why: `${problemsText(checked.problems)}.`,
    fix: 'Save plain objects, arrays, strings, numbers, booleans and null.',
  })
}

function tooLarge(): RequestRefused {
  return new RequestRefused({
    code: 'CHECKPOINT_TOO_LARGE',
    what: 'A checkpoint is too large; nothing was changed.',
    why: `With all that once() remembers it has more than ${jsonLimits.bytesMax} bytes as JSON.`,
    fix: 'Store the data elsewhere and save where it is.',
  })
}
