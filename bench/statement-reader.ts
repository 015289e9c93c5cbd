/** A value as it was sent: as a text, or as bytes, here in base64. */
export type Value = string | null | { base64: string }

/** A statement as a program has sent it. */
export type Statement = { text: string; values: readonly Value[] }

/** Takes what a program sends over one connection to a PostgreSQL, in whatever pieces, and returns the statements that are complete. */
export type StatementReader = (chunk: Buffer) => Statement[]

const parseMessage = 'P'
const bindMessage = 'B'
const queryMessage = 'Q'

/** Follows the frontend's half of the protocol: what was prepared, and what is bound to it. */
export function createStatementReader(): StatementReader {
  const prepared = new Map<string, string>()
  let unread: Buffer = Buffer.alloc(0)
  // The first message of a connection has no type.
  let started = false

  function read(type: string, body: Buffer): Statement[] {
    const fields = createFields(body)
    if (type === parseMessage) {
      prepared.set(fields.text(), fields.text())
      return []
    }
    if (type === queryMessage) return [{ text: fields.text(), values: [] }]
    if (type !== bindMessage) return []
    fields.text()
    const text = prepared.get(fields.text())
    if (text === undefined) throw new Error('something was bound to a statement that was never prepared')
    const formats = fields.list(() => fields.short())
    // One format is for all values, none means texts.
    const isBinary = (place: number) => (formats.length === 1 ? formats[0] : formats[place]) === 1
    return [{ text, values: fields.list((place) => fields.value(isBinary(place))) }]
  }

  return (chunk) => {
    unread = Buffer.concat([unread, chunk])
    const found: Statement[] = []
    for (;;) {
      const head = started ? 1 : 0
      if (unread.length < head + 4) return found
      const end = head + unread.readInt32BE(head)
      if (unread.length < end) return found
      if (started) found.push(...read(String.fromCharCode(unread[0] ?? 0), unread.subarray(5, end)))
      started = true
      unread = Buffer.from(unread.subarray(end))
    }
  }
}

function createFields(body: Buffer) {
  let at = 0
  const short = () => {
    at += 2
    return body.readInt16BE(at - 2)
  }
  return {
    short,
    text(): string {
      const start = at
      at = body.indexOf(0, start) + 1
      return body.toString('utf8', start, at - 1)
    },
    value(isBinary: boolean): Value {
      const length = body.readInt32BE(at)
      at += 4
      if (length < 0) return null
      at += length
      const bytes = body.subarray(at - length, at)
      return isBinary ? { base64: bytes.toString('base64') } : bytes.toString('utf8')
    },
    list: <T>(one: (place: number) => T): T[] => Array.from({ length: short() }, (_, place) => one(place)),
  }
}
