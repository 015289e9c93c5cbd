/** What some of the texts that are searched hold: each three letters or digits in a row, and how many of the texts have them. */
export type Sample = { texts: readonly string[]; holders: ReadonlyMap<string, number> }

/** Of fewer texts nothing can be learnt. */
const fewestTexts = 50
/** What more of the texts have is common. */
const rareShare = 0.03

export function sampleOf(texts: readonly string[]): Sample {
  const holders = new Map<string, number>()
  for (const text of texts) {
    const padded = foldedOf(` ${text} `)
    const trigrams = new Set(Array.from(padded, (_, place) => padded.slice(place, place + 3)))
    for (const trigram of trigrams) holders.set(trigram, (holders.get(trigram) ?? 0) + 1)
  }
  return { texts: texts.map((text) => text.toLowerCase()), holders }
}

/**
 * The part of a text that few have, for an index to look for: it goes through a list for every three letters, and the lists of
 * `example.com` are as long as there are accounts. All of the text where no part of it is known to be rare.
 */
export function rarePart(text: string, { texts, holders }: Sample): string {
  // Other letters may become small in ways that depend on those beside them, and the database must find the part in the whole.
  if (texts.length < fewestTexts || !/^[ -~]*$/.test(text)) return text
  const folded = foldedOf(text)
  const isRare = (place: number) => {
    const trigram = folded.slice(place, place + 3)
    return known.test(trigram) && (holders.get(trigram) ?? 0) <= texts.length * rareShare
  }
  // Three letters alone may be rare and still be those of ten thousand, and so may a name that others have too.
  const serves = (part: string) => part.length > 3 && !texts.some((each) => holds(each, part) && !holds(each, text))
  let [from, longest] = [0, '']
  for (let place = 0; place <= text.length; place++) {
    if (isRare(place)) continue
    const part = text.slice(from, place + 2)
    if (place > from && part.length > longest.length && serves(part)) longest = part
    from = place + 1
  }
  return longest === '' ? text : longest
}

function holds(text: string, part: string): boolean {
  return text.includes(part.toLowerCase())
}

/** The index knows where words begin and end, and not by which mark. */
const known = /^(\w{3}|\w{2} | \w{2})$/

function foldedOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, ' ')
}
