import type { Claims } from './claims.ts'

type Limits = { tokens?: number; characters?: number }
type Entry = { token: string; claims: Claims; older: Entry; newer: Entry }

/**
 * Tokens whose signature has been found good; the least recently used go first. The key is the whole text: a token that differs in
 * a single character is another one. Whoever finds claims here still has to check their times.
 *
 * The order is a ring of entries rather than that of the Map, whose removed entries the search for the oldest would have to cross.
 */
export function createVerified({ tokens = 10_000, characters = 16 * 1024 * 1024 }: Limits = {}) {
  const known = new Map<string, Entry>()
  // Where the ring begins and ends: its newer one is the oldest entry, its older one the newest.
  const ring = { token: '', claims: {} } as Entry
  ring.older = ring
  ring.newer = ring
  let held = 0

  function takeOut({ older, newer }: Entry): void {
    older.newer = newer
    newer.older = older
  }

  function putLast(entry: Entry): void {
    entry.older = ring.older
    entry.newer = ring
    ring.older.newer = entry
    ring.older = entry
  }

  function drop(token: string): void {
    const entry = known.get(token)
    if (!entry) return
    known.delete(token)
    takeOut(entry)
    held -= token.length
  }

  function keep(token: string, claims: Claims): void {
    drop(token)
    const entry = { token, claims, older: ring, newer: ring }
    known.set(token, entry)
    putLast(entry)
    held += token.length
    while (known.size > tokens || held > characters) drop(ring.newer.token)
  }

  function find(token: string): Claims | undefined {
    const entry = known.get(token)
    if (!entry) return undefined
    takeOut(entry)
    putLast(entry)
    return entry.claims
  }

  return { find, keep, drop, size: () => ({ tokens: known.size, characters: held }) }
}
