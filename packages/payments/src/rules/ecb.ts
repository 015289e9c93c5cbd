import type { RateSet } from './exchange.ts'

/** The whole history since 1999 has some eight million. */
export const mostBytes = 10_000_000

const day = /\s*<Cube\s+time=(["'])(\d{4}-\d{2}-\d{2})\1\s*>/y
const rate = /\s*<Cube\s+currency=(["'])([^"'<>]*)\1\s+rate=(["'])([^"'<>]*)\3\s*\/>/y
const dayEnd = /\s*<\/Cube\s*>/y

/**
 * Reads https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml, or one of the histories beside it, newest day first. Not an XML
 * reader but one for this document: whatever else stands where rates are is refused, and so is a document that ends too early.
 */
export function readReferenceRates(text: string, source: string): RateSet[] {
  if (text.length > mostBytes) throw new Error(`the document is longer than ${mostBytes} bytes`)
  if (text.includes('<!')) throw new Error('the document has declarations, comments or CDATA, none of which belong there')
  const sets = readDays(betweenCubes(text), source)
  if (sets.length === 0) throw new Error('the document has no rates')
  if (new Set(sets.map((set) => set.day)).size < sets.length) throw new Error('the document has a day twice')
  return sets.sort((one, other) => (one.day < other.day ? 1 : -1))
}

/** What the outermost cube holds. */
function betweenCubes(text: string): string {
  const [start, end] = [text.indexOf('<Cube>'), text.lastIndexOf('</Cube>')]
  const begins = /^\uFEFF?\s*(?:<\?xml [^<>]*\?>\s*)?<(?:\w+:)?Envelope[\s>]/.test(text.slice(0, 1000))
  const ends = /^<\/Cube>\s*<\/(?:\w+:)?Envelope>\s*$/.test(text.slice(end))
  if (!begins || !ends || start < 0 || end < start)
    throw new Error('the document is not, or not the whole of, what the European Central Bank publishes')
  return text.slice(start + '<Cube>'.length, end)
}

function readDays(text: string, source: string): RateSet[] {
  let place = 0
  const take = (pattern: RegExp) => {
    pattern.lastIndex = place
    const found = pattern.exec(text)
    if (found) place = pattern.lastIndex
    return found
  }
  const sets: RateSet[] = []
  for (let begun = take(day); begun; begun = take(day)) {
    const perEuro = new Map<string, string>()
    const date = checkedDay(begun[2] ?? '')
    for (let one = take(rate); one; one = take(rate)) addRate(perEuro, date, { currency: one[2] ?? '', rate: one[4] ?? '' })
    if (perEuro.size === 0 || !take(dayEnd)) throw new Error(`what stands under ${date} is not a list of rates`)
    sets.push({ source, day: date, perEuro })
  }
  if (text.slice(place).trim() !== '') throw new Error(`after ${sets.length} days there is something that is not a day`)
  return sets
}

function addRate(perEuro: Map<string, string>, date: string, { currency, rate }: { currency: string; rate: string }): void {
  if (!/^[A-Z]{3}$/.test(currency) || currency === 'EUR') throw new Error(`${date} has a currency that cannot be one`)
  if (perEuro.has(currency)) throw new Error(`${date} has ${currency} twice`)
  if (!/^\d{1,9}(\.\d{1,12})?$/.test(rate) || Number(rate) === 0)
    throw new Error(`${date} has a rate of ${currency} that cannot be one`)
  perEuro.set(currency, rate)
}

/** The 31st of February is a day to nobody but a regular expression. */
function checkedDay(text: string): string {
  const moment = new Date(`${text}T00:00:00Z`)
  if (Number.isNaN(moment.getTime()) || moment.toISOString().slice(0, 10) !== text) throw new Error(`${text} is not a day`)
  return text
}
