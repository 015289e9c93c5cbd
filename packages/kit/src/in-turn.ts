/** Tells stories about one thing one after the other; those about different things do not wait for each other. */
export type InTurn = <T>(thing: string, story: () => Promise<T>) => Promise<T>

export function createInTurn(): InTurn {
  const last = new Map<string, Promise<unknown>>()
  return (thing, story) => {
    const before = last.get(thing)
    const told = before ? before.then(story, story) : story()
    last.set(thing, told)
    const forget = () => {
      if (last.get(thing) === told) last.delete(thing)
    }
    told.then(forget, forget)
    return told
  }
}
