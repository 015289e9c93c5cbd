import type { IncomingMessage } from 'node:http'

/** A body that cannot be read, in words for the caller. */
export class UnreadableBody extends Error {}

/** More than the limit; the rest of the body is still in the pipe. */
export class BodyTooLarge extends Error {}

const maximumDepth = 64
const maximumPairs = 1000
const cutShort = 'the connection was closed before the body was complete'

/** Reads the bytes of a request, never more than `limit` of them. */
export function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > limit) return Promise.reject(new BodyTooLarge())
  // A request that is gone already has told so, and will not tell again.
  if (request.destroyed) return Promise.reject(new UnreadableBody(cutShort))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const settle = (finish: () => void) => {
      request.off('data', onData).off('end', onEnd).off('error', onCut).off('close', onCut)
      finish()
    }
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) settle(() => reject(new BodyTooLarge()))
      else chunks.push(chunk)
    }
    const onEnd = () => settle(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size)))
    const onCut = () => settle(() => reject(new UnreadableBody(cutShort)))
    request.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut)
  })
}

export function parseJson(bytes: Buffer): unknown {
  const text = decodeUtf8(bytes)
  if (nestingDepth(text) > maximumDepth) throw new UnreadableBody(`nested deeper than ${maximumDepth} levels`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (problem) {
    throw new UnreadableBody(wordJsonProblem(problem))
  }
  // Most bodies hold nothing suspicious, and are spared the walk.
  return /__proto__|\\u00|\\ud[89a-f]|\0/i.test(text) ? wholesome(value) : value
}

/** `company[country]=DK&tags[]=a` → `{ company: { country: 'DK' }, tags: ['a'] }` */
export function parseForm(text: string): Record<string, unknown> {
  const root: Record<string, unknown> = {}
  if (text === '') return root
  const pairs = text.split('&', maximumPairs + 1)
  if (pairs.length > maximumPairs) throw new UnreadableBody(`more than ${maximumPairs} fields`)
  for (const pair of pairs) {
    if (pair === '') continue
    const middle = pair.indexOf('=')
    const name = decodePart(middle < 0 ? pair : pair.slice(0, middle))
    put(root, name, middle < 0 ? '' : decodePart(pair.slice(middle + 1)))
  }
  return root
}

export function parseFormBytes(bytes: Buffer): Record<string, unknown> {
  return parseForm(decodeUtf8(bytes))
}

function put(root: Record<string, unknown>, name: string, value: string) {
  const bracket = name.indexOf('[')
  const path = bracket > 0 && name.endsWith(']') ? [name.slice(0, bracket), ...name.slice(bracket + 1, -1).split('][')] : [name]
  if (path.length > 10) throw new UnreadableBody('fields nested deeper than 10 levels')
  if (path.includes('__proto__')) return
  let place: Record<string, unknown> | unknown[] = root
  for (const [depth, key] of path.entries()) {
    const last = depth === path.length - 1
    const child: unknown = last ? value : path[depth + 1] === '' ? [] : {}
    if (Array.isArray(place)) {
      place.push(child)
      place = child as Record<string, unknown>
      continue
    }
    const there: unknown = Object.hasOwn(place, key) ? place[key] : undefined
    // A later plain value replaces an earlier one, as in every form reader; a branch that is there is gone into.
    if (last || typeof there !== 'object' || there === null) place[key] = child
    place = place[key] as Record<string, unknown>
  }
}

function decodePart(text: string): string {
  let value: string
  try {
    value = decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new UnreadableBody('a percent-encoded field is not valid UTF-8')
  }
  return wholesome(value) as string
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new UnreadableBody('not valid UTF-8')
  }
}

/** Brackets that are open at once at the deepest place, counted before the parser builds anything. */
function nestingDepth(text: string): number {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (inString) {
      if (code === 92) index++
      else if (code === 34) inString = false
    } else if (code === 34) inString = true
    else if (code === 123 || code === 91) deepest = Math.max(deepest, ++depth)
    else if (code === 125 || code === 93) depth--
  }
  return deepest
}

/**
 * PostgreSQL stores neither NUL nor half a surrogate pair, and a property named `__proto__` is never meant well: the first
 * two are refused here instead of failing in the database, the last is dropped.
 */
function wholesome(value: unknown): unknown {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw new UnreadableBody('text holds a NUL character')
    if (!value.isWellFormed()) throw new UnreadableBody('text holds half a surrogate pair')
    return value
  }
  if (Array.isArray(value)) return value.map(wholesome)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([name]) => name !== '__proto__')
  return Object.fromEntries(entries.map(([name, part]) => [wholesome(name) as string, wholesome(part)]))
}

/** The parser quotes the input in its message; callers get the place only, so that no password ends up in somebody's log. */
function wordJsonProblem(problem: unknown): string {
  const message = problem instanceof Error ? problem.message : ''
  if (message === 'Unexpected end of JSON input') return 'unexpected end of JSON input'
  const place = / JSON at position (\d+) \(line \d+ column \d+\)$/.exec(message)?.[1]
  return place === undefined ? 'invalid character' : `invalid character at position ${place}`
}
