/** Where a page begins: after the row whose key this is. */
export type Place = readonly [string, string]

/** A page of rows in the order of their keys. */
export type PageOf = { after: Place; limit: number }
