import { message, readText } from './wire.ts'

/** Something that the server was asked, or that the client believes it was. */
export type Request = {
  /** The letters of the messages that end the answer to it. */
  ends: string
  /** The client did not ask for it, and hears nothing of it. */
  silent?: boolean
  /** The server was not asked: this is what the client gets in its place. */
  answer?: Buffer
  /** Takes back what was noted when it was asked. */
  failed?(prepared: Map<string, Buffer>): void
}

/** The statements of a client by the names that it has given them: text and types of parameters. */
export type Known = Map<string, Buffer>

type Rewritten = { requests: Request[]; forward: Buffer[]; broken?: string }

export type Rewrite = (type: string, bytes: Buffer, known: Known, prepared: Map<string, Buffer>) => Rewritten

const answersTo: Record<string, string> = { Q: 'Z', P: '1', B: '2', D: 'Tn', E: 'CIs', C: '3', S: 'Z', F: 'Z' }

/**
 * Lets statements that a client has prepared be there on whichever connection it gets, as PgBouncer does since 1.21: names of the client's
 * become names of the pooler's, one for each text, and a connection that does not know one is told it in passing.
 */
export function createRewriter(most: number): Rewrite {
  const names = new Map<string, string>()

  function nameOf(statement: Buffer): string {
    const text = statement.toString('latin1')
    const name = names.get(text) ?? `POOLER_${names.size + 1}`
    names.set(text, name)
    return name
  }

  const parseOf = (statement: Buffer) => message('P', nameOf(statement), '\0', statement)

  /** Has a connection know a statement, and forget the one that was used longest ago when it knows too many. */
  function teach(statement: Buffer, prepared: Map<string, Buffer>, silent: boolean): Rewritten {
    const name = nameOf(statement)
    prepared.set(name, statement)
    const taught: Rewritten = {
      requests: [{ ends: '1', silent, failed: (server) => void server.delete(name) }],
      forward: [parseOf(statement)],
    }
    for (const [oldest, old] of prepared) {
      if (prepared.size <= most) break
      prepared.delete(oldest)
      taught.forward.push(message('C', 'S', oldest, '\0'))
      taught.requests.push({ ends: '3', silent: true, failed: (server) => void server.set(oldest, old) })
    }
    return taught
  }

  function use(statement: Buffer, prepared: Map<string, Buffer>): Rewritten {
    const name = nameOf(statement)
    if (!prepared.delete(name)) return teach(statement, prepared, true)
    // Used last, so forgotten last.
    prepared.set(name, statement)
    return { requests: [], forward: [] }
  }

  const asIs = (type: string, bytes: Buffer): Rewritten => {
    const ends = answersTo[type]
    return { requests: ends ? [{ ends }] : [], forward: [bytes] }
  }
  const broken = (why: string): Rewritten => ({ requests: [], forward: [], broken: why })

  function parse(bytes: Buffer, known: Known, prepared: Map<string, Buffer>): Rewritten {
    const { text: name, next } = readText(bytes, 5)
    if (name === '') return asIs('P', bytes)
    if (known.has(name)) return broken('prepared statement name is already in use')
    const statement = bytes.subarray(next)
    known.set(name, statement)
    if (!prepared.has(nameOf(statement))) return teach(statement, prepared, false)
    return { requests: [{ ends: '', answer: message('1') }], forward: [] }
  }

  function bind(bytes: Buffer, known: Known, prepared: Map<string, Buffer>): Rewritten {
    const portal = readText(bytes, 5)
    const { text: name, next } = readText(bytes, portal.next)
    if (name === '') return asIs('B', bytes)
    const statement = known.get(name)
    if (!statement) return broken('prepared statement did not exist')
    const { requests, forward } = use(statement, prepared)
    const bound = message('B', bytes.subarray(5, portal.next), nameOf(statement), '\0', bytes.subarray(next))
    return { requests: [...requests, { ends: '2' }], forward: [...forward, bound] }
  }

  function describe(bytes: Buffer, known: Known, prepared: Map<string, Buffer>): Rewritten {
    const { text: name } = readText(bytes, 6)
    if (!isStatement(bytes) || name === '') return asIs('D', bytes)
    const statement = known.get(name)
    if (!statement) return broken('prepared statement did not exist')
    const { requests, forward } = use(statement, prepared)
    return { requests: [...requests, { ends: 'Tn' }], forward: [...forward, message('D', 'S', nameOf(statement), '\0')] }
  }

  function close(bytes: Buffer, known: Known): Rewritten {
    const { text: name } = readText(bytes, 6)
    if (!isStatement(bytes) || name === '') return asIs('C', bytes)
    known.delete(name)
    return { requests: [{ ends: '', answer: message('3') }], forward: [] }
  }

  return (type, bytes, known, prepared) => {
    if (most === 0) return asIs(type, bytes)
    if (type === 'P') return parse(bytes, known, prepared)
    if (type === 'B') return bind(bytes, known, prepared)
    if (type === 'D') return describe(bytes, known, prepared)
    if (type === 'C') return close(bytes, known)
    return asIs(type, bytes)
  }
}

function isStatement(bytes: Buffer): boolean {
  return bytes[5] === 'S'.charCodeAt(0)
}
