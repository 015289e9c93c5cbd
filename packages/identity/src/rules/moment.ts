/** A moment with its zone, as RFC 3339 writes it. */
export function parseMoment(text: string): Date | { expected: string } {
  const moment = new Date(text)
  const isMoment = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i.test(text) && !Number.isNaN(moment.getTime())
  return isMoment ? moment : { expected: 'a moment such as 2027-01-01T00:00:00Z' }
}
