/**
 * Which part of a list is wanted: strictly between two ids, newest first unless only `after` is given. Statements name both ids in either
 * direction and join nothing that could be gone through otherwise: planned for a merchant with little, they are still right for the one with
 * very much.
 */
export type Page = { limit: number; before: string; after: string; ascending: boolean }

/** Every id is smaller than this. */
const beyond = 'g'

export function readPage({ limit, before, after }: { limit: number; before?: string; after?: string }): Page {
  return { limit, before: before ?? beyond, after: after ?? '', ascending: after !== undefined && before === undefined }
}
