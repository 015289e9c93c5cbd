/** What is asked, in a form that can be sent to another process, and that can go on where an earlier load has stopped. */
export type Requests =
  | { kind: 'turns'; texts: readonly Uint8Array[]; turn: number }
  /** The same with another number each time, of always as many digits. */
  | { kind: 'numbered'; text: Uint8Array; place: Place; number: number }
  /** One for every connection, into which goes what stands in the answer to the one before, right after some words. */
  | { kind: 'chained'; texts: readonly Uint8Array[]; place: Place; after: string }
  /** Two that belong together and count as one: into the second goes what stands in the answer to the first, right after some words. */
  | { kind: 'pairs'; firsts: readonly Uint8Array[]; turn: number; second: Uint8Array; place: Place; after: string }
  /** Several of these kinds, each as often as its share says. */
  | { kind: 'mixed'; parts: readonly Part[] }

/** `server` is which of the servers of a workload is asked; `credit` how much of its share a part has not had yet. */
export type Part = { share: number; server: number; credit: number; requests: Requests }

/** Where in a request something changes. Always as long, so that nothing else has to. */
export type Place = { at: number; length: number }

export type Asker = {
  /** The next request of a connection. It is overwritten by the one after it. */
  next(connection: number): Uint8Array
  /** Which server the request that was handed out last to this connection is for, where there are several. */
  server(connection: number): number
  /** Whether the answer's body has everything that the next request of this connection needs. */
  learn(connection: number, body: Buffer): boolean
  /** What belongs to the request whose answer was just learnt, and is asked right after it. */
  follow(connection: number): Uint8Array | undefined
  /** Whether it has to be told the bodies of answers. */
  learns: boolean
  /** What another load begins with, to go on where this one has come to. */
  rest(): Requests
}

export function createAsker(requests: Requests, connections: number): Asker {
  if (requests.kind === 'turns') return askInTurns(requests)
  if (requests.kind === 'numbered') return askNumbered(requests, connections)
  if (requests.kind === 'pairs') return askPairs(requests, connections)
  if (requests.kind === 'mixed') return askMixed(requests, connections)
  return askChained(requests, connections)
}

const onlyServer = { server: () => 0 }

const nothingFollows = { ...onlyServer, follow: () => undefined }

const nothingToLearn = { ...nothingFollows, learn: () => true, learns: false }

function askInTurns({ texts, turn: first }: Requests & { kind: 'turns' }): Asker {
  let turn = first
  return {
    ...nothingToLearn,
    next() {
      turn = (turn + 1) % texts.length
      return texts[turn] as Uint8Array
    },
    rest: () => ({ kind: 'turns', texts, turn }),
  }
}

function askNumbered(requests: Requests & { kind: 'numbered' }, connections: number): Asker {
  const { text, place } = requests
  const copies = Array.from({ length: connections }, () => Buffer.from(text))
  let { number } = requests
  return {
    ...nothingToLearn,
    next(connection) {
      const copy = copies[connection] as Buffer
      copy.write(String(number).padStart(place.length, '0'), place.at, 'latin1')
      number += 1
      return copy
    },
    rest: () => ({ ...requests, number }),
  }
}

function askChained(requests: Requests & { kind: 'chained' }, connections: number): Asker {
  const { texts, place } = requests
  // Two connections with one chain would both ask for the same, which is another workload.
  if (texts.length < connections) throw new Error(`${connections} connections need as many chains, and there are ${texts.length}`)
  const copies = texts.map((text) => Buffer.from(text))
  const after = Buffer.from(requests.after)
  return {
    ...nothingFollows,
    learns: true,
    next: (connection) => copies[connection] as Buffer,
    learn: (connection, body) => takeOver(body, after, { into: copies[connection] as Buffer, place }),
    rest: () => ({ ...requests, texts: copies }),
  }
}

function askPairs(requests: Requests & { kind: 'pairs' }, connections: number): Asker {
  const { firsts, second, place } = requests
  const copies = Array.from({ length: connections }, () => Buffer.from(second))
  const after = Buffer.from(requests.after)
  const atSecond = new Set<number>()
  let { turn } = requests
  return {
    ...onlyServer,
    learns: true,
    next(connection) {
      atSecond.delete(connection)
      turn = (turn + 1) % firsts.length
      return firsts[turn] as Uint8Array
    },
    learn: (connection, body) => atSecond.has(connection) || takeOver(body, after, { into: copies[connection] as Buffer, place }),
    follow(connection) {
      if (atSecond.has(connection)) return undefined
      atSecond.add(connection)
      return copies[connection] as Buffer
    },
    rest: () => ({ ...requests, turn }),
  }
}

function askMixed(requests: Requests & { kind: 'mixed' }, connections: number): Asker {
  const parts = requests.parts.map((part) => ({ ...part, asker: createAsker(part.requests, connections) }))
  const [first] = parts
  if (!first) throw new Error('a mixture of nothing cannot be asked')
  const whole = parts.reduce((sum, { share }) => sum + share, 0)
  const current = Array.from({ length: connections }, () => first)
  const partOf = (connection: number) => current[connection] ?? first
  return {
    learns: parts.some(({ asker }) => asker.learns),
    next(connection) {
      // Whoever has waited longest for its share is next, so that the shares hold in every stretch and not only on average.
      for (const part of parts) part.credit += part.share
      const part = parts.reduce((most, each) => (each.credit > most.credit ? each : most))
      part.credit -= whole
      current[connection] = part
      return part.asker.next(connection)
    },
    server: (connection) => partOf(connection).server,
    learn: (connection, body) => partOf(connection).asker.learn(connection, body),
    follow: (connection) => partOf(connection).asker.follow(connection),
    rest: () => ({
      kind: 'mixed',
      parts: parts.map(({ share, server, credit, asker }) => ({ share, server, credit, requests: asker.rest() })),
    }),
  }
}

/** Copies what stands in an answer after some words to its place in a request. False when it is not there, or would not fit. */
function takeOver(body: Buffer, after: Buffer, { into, place }: { into: Buffer; place: Place }): boolean {
  const found = body.indexOf(after)
  const from = found + after.length
  // A quotation mark ends what is looked for; anything longer or shorter would not fit.
  if (found < 0 || body[from + place.length] !== quotationMark) return false
  body.copy(into, place.at, from, from + place.length)
  return true
}

const quotationMark = 0x22

export type Given = { headers?: Readonly<Record<string, string>>; json?: unknown }

/** The bytes of a request. */
export function requestText(method: string, path: string, { headers = {}, json }: Given = {}): Buffer {
  const body = json === undefined ? '' : JSON.stringify(json)
  const described =
    json === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) }
  const lines = Object.entries({ Host: '127.0.0.1', ...headers, ...described }).map(([name, value]) => `${name}: ${value}`)
  return Buffer.from([`${method} ${path} HTTP/1.1`, ...lines, '', body].join('\r\n'))
}

/** The header that an app shows its key with. */
export function basic(key: string): Readonly<Record<string, string>> {
  return { Authorization: `Basic ${Buffer.from(`:${key}`).toString('base64')}` }
}

export function inTurns(...texts: readonly Buffer[]): Requests {
  return { kind: 'turns', texts, turn: 0 }
}

/** Stands in a request for a number that is another one each time. */
export const numberHere = '#########'

export function numbered(text: Buffer, from = 1): Requests {
  return { kind: 'numbered', text, place: placeOf(text, numberHere), number: from }
}

/** `firsts` are what the first request of each chain holds, all of one length; `write` makes a request that holds such a thing. */
export function chained(firsts: readonly string[], write: (given: string) => Buffer, after: string): Requests {
  const [first = ''] = firsts
  return { kind: 'chained', texts: firsts.map(write), place: placeOf(write(first), first), after }
}

/** `write` makes the second request from something of this length that the answer to the first holds. */
export function inPairs(firsts: readonly Buffer[], length: number, write: (given: string) => Buffer, after: string): Requests {
  const gap = 'x'.repeat(length)
  const second = write(gap)
  return { kind: 'pairs', firsts, turn: 0, second, place: placeOf(second, gap), after }
}

/** Shares are of any whole: only their proportions count. */
export function mixed(parts: readonly Omit<Part, 'credit'>[]): Requests {
  return { kind: 'mixed', parts: parts.map((part) => ({ ...part, credit: 0 })) }
}

function placeOf(text: Buffer, what: string): Place {
  const at = text.indexOf(what)
  if (at < 0 || what === '') throw new Error('the request has no place for what changes')
  return { at, length: Buffer.byteLength(what) }
}
