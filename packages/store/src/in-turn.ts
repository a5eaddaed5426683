/** Work on one thing that must not overlap: it is done in the order asked, and what fails does not stop what follows. */
export type InTurn = <T>(thing: object, work: () => Promise<T>) => Promise<T>

/** Each has turns of its own, so that work of one kind may be part of work of another. */
export function createTurns(): InTurn {
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
