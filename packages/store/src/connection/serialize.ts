/** Runs work on one object without overlap, in the order of the calls; a failure does not stop later work. */
export type Serialize = <T>(thing: object, work: () => Promise<T>) => Promise<T>

/** Each serializer has its own order, so that work of one kind may contain work of another. */
export function createSerializer(): Serialize {
  const underWay = new WeakMap<object, Promise<unknown>>()
  return (thing, work) => {
    const mine = (underWay.get(thing) ?? Promise.resolve()).then(work)
    underWay.set(
      thing,
      mine.catch(() => {}),
    )
    return mine
  }
}
