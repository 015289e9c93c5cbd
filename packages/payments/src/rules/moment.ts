/** A moment as RFC 3339 writes it, with its zone; undefined where the text is none, or one that no calendar has. */
export function parseMoment(text: string): Date | undefined {
  const [, local, fraction = '', zone] =
    /^([1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i.exec(text) ?? []
  if (local === undefined || zone === undefined) return undefined
  // The parser would take the 31st of February for the 2nd of March.
  const asWritten = new Date(`${local}Z`)
  if (Number.isNaN(asWritten.getTime()) || !asWritten.toISOString().startsWith(local.toUpperCase())) return undefined
  return new Date(`${local}${fraction}${zone}`)
}
