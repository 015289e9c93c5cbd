/** An address to be matched: all of it but its fragment, and the part of it that names the host and port. */
export type Address = { text: string; authority: string }

export type Glob = (address: Address) => boolean

/** `any` is a run of characters, `crossing` where the run may hold separators; the rest is one character. */
type Token = { any: true; crossing: boolean } | { any: false; fits(character: string): boolean; literal?: string }

/** More than anybody means to write, and few enough to try one by one. */
const mostAlternatives = 256
const mostCharacters = 2048

const isSeparator = (character: string) => character === '.' || character === '/'

const star: Token = { any: true, crossing: false }
const doubleStar: Token = { any: true, crossing: true }
const anyOne: Token = { any: false, fits: (character) => !isSeparator(character) }

/**
 * Compiles a glob whose separators are `.` and `/`: `*` stops at them, `**` crosses them, `?` is one character but a separator,
 * `[a-z]` and `[!a-z]` one of a set, `{a,b}` one of several globs, a backslash takes the next character as it is.
 * Undefined for what is no glob. Matching takes time in proportion to the address, whatever the glob.
 */
export function compileGlob(text: string): Glob | undefined {
  if (text === '' || text.length > mostCharacters) return undefined
  const characters = Array.from(text)
  const parsed = parseSequence(characters, 0, false)
  if (!parsed || parsed.end !== characters.length) return undefined
  const alternatives = parsed.alternatives.map(compileAlternative)
  return (address) => alternatives.some((matches) => matches(address))
}

function compileAlternative(written: readonly Token[]): Glob {
  const bounds = authorityBounds(written)
  // Hosts know no upper case, and addresses come here with theirs in lower case.
  const tokens = written.map((token, at) => (bounds && at < bounds.end ? lowered(token) : token))
  const authority = bounds && tokens.slice(bounds.start, bounds.end)
  // The host must fit the part of the glob that is written for it: else `https://**.mine.example/` would let
  // https://evil.example/x.mine.example/ through.
  return (address) => matches(tokens, address.text) && (!authority || matches(authority, address.authority))
}

/** Where a glob speaks of the host: after `://`, or from the start where it begins with a star and names no scheme. */
function authorityBounds(tokens: readonly Token[]): { start: number; end: number } | undefined {
  const is = (at: number, literal: string) => literalOf(tokens[at]) === literal
  const colon = tokens.findIndex((_, at) => is(at, ':') && is(at + 1, '/') && is(at + 2, '/'))
  const start = colon >= 0 ? colon + 3 : tokens[0]?.any ? 0 : undefined
  if (start === undefined) return undefined
  const slash = tokens.findIndex((_, at) => at >= start && is(at, '/'))
  return { start, end: slash < 0 ? tokens.length : slash }
}

function literalOf(token: Token | undefined): string | undefined {
  return token && !token.any ? token.literal : undefined
}

function lowered(token: Token): Token {
  const literal = literalOf(token)
  return literal === undefined ? token : literally(literal.toLowerCase())
}

function literally(literal: string): Token {
  return { any: false, literal, fits: (character) => character === literal }
}

/** Follows all ways through the tokens at once, so that no text makes it go back. */
function matches(tokens: readonly Token[], text: string): boolean {
  let places = reach(tokens, new Set([0]))
  for (const character of text) {
    const next = new Set<number>()
    for (const place of places) {
      const token = tokens[place]
      if (!token) continue
      if (!token.any && token.fits(character)) next.add(place + 1)
      if (token.any && (token.crossing || !isSeparator(character))) next.add(place)
    }
    if (next.size === 0) return false
    places = reach(tokens, next)
  }
  return places.has(tokens.length)
}

/** A run may be empty, so that who stands before one stands behind it too. */
function reach(tokens: readonly Token[], places: Set<number>): Set<number> {
  // What is added while a set is walked through is walked through as well.
  for (const place of places) if (tokens[place]?.any) places.add(place + 1)
  return places
}

type Parsed = { alternatives: Token[][]; end: number }

/** Reads up to the end or, inside of braces, up to the comma or brace that ends this alternative. */
function parseSequence(characters: readonly string[], start: number, inside: boolean): Parsed | undefined {
  let alternatives: Token[][] = [[]]
  let at = start
  while (at < characters.length) {
    const character = characters[at] as string
    if (inside && (character === ',' || character === '}')) break
    const read = character === '{' ? parseBraces(characters, at + 1) : parseToken(characters, at)
    if (!read || alternatives.length * read.alternatives.length > mostAlternatives) return undefined
    alternatives = alternatives.flatMap((before) => read.alternatives.map((after) => [...before, ...after]))
    at = read.end
  }
  return { alternatives, end: at }
}

function parseBraces(characters: readonly string[], start: number): Parsed | undefined {
  const alternatives: Token[][] = []
  let at = start
  for (;;) {
    const read = parseSequence(characters, at, true)
    if (!read || characters[read.end] === undefined) return undefined
    alternatives.push(...read.alternatives)
    if (characters[read.end] === '}') return { alternatives, end: read.end + 1 }
    at = read.end + 1
  }
}

function parseToken(characters: readonly string[], at: number): Parsed | undefined {
  const one = (token: Token, length: number): Parsed => ({ alternatives: [[token]], end: at + length })
  const [character = '', following] = characters.slice(at, at + 2)
  if (character === '*') return following === '*' ? one(doubleStar, 2) : one(star, 1)
  if (character === '?') return one(anyOne, 1)
  if (character === '[') return parseSet(characters, at)
  if (character !== '\\') return one(literally(character), 1)
  return following === undefined ? undefined : one(literally(following), 2)
}

function parseSet(characters: readonly string[], start: number): Parsed | undefined {
  const close = characters.indexOf(']', start + 1)
  if (close < 0) return undefined
  const inside = characters.slice(start + 1, close)
  const negated = inside[0] === '!'
  const members = negated ? inside.slice(1) : inside
  if (members.length === 0) return undefined
  const ranges: [string, string][] = []
  for (let at = 0; at < members.length; at++) {
    const [from = '', dash, to] = members.slice(at, at + 3)
    const isRange = dash === '-' && to !== undefined
    ranges.push([from, isRange ? to : from])
    if (isRange) at += 2
  }
  if (ranges.some(([from, to]) => from > to)) return undefined
  const listed = (character: string) => ranges.some(([from, to]) => from <= character && character <= to)
  // "Anything but" does not mean the dots and slashes that keep hosts and paths apart.
  const fits = negated ? (character: string) => !listed(character) && !isSeparator(character) : listed
  return { alternatives: [[{ any: false, fits }]], end: close + 1 }
}

/** Divided by commas, but not by those inside of braces. */
export function parseGlobs(text: string): readonly string[] | { expected: string } {
  const globs = text
    .split(/,(?![^{}]*\})/)
    .map((glob) => glob.trim())
    .filter((glob) => glob !== '')
  const broken = globs.find((glob) => compileGlob(glob) === undefined)
  return broken === undefined ? globs : { expected: `a list of globs, which ${JSON.stringify(broken.slice(0, 80))} is not` }
}
