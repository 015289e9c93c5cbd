/** Something that a well-behaved server does not send. */
export class Surprise extends Error {}

export type Answer = {
  status: number
  /** The server says that it has too much to do, and when to come back. */
  busy: boolean
  /** Its bytes, for who wants them; they are overwritten by what arrives next. */
  body: Buffer
}

/** Takes the bytes of a connection as they come, and returns an answer when it is complete. */
export type AnswerReader = (chunk: Buffer) => Answer | undefined

const headEnd = Buffer.from('\r\n\r\n')
const none = Buffer.alloc(0)

/** Reads one answer at a time, since the next request is sent only after it: bytes beyond an answer are a surprise. */
export function createAnswerReader({ keepBody }: { keepBody: boolean }): AnswerReader {
  let unfinishedHead = none
  let head: Head | undefined
  let missing = 0
  let pieces: Buffer[] = []

  return (chunk) => {
    let rest = chunk
    if (!head) {
      const bytes = unfinishedHead.length === 0 ? chunk : Buffer.concat([unfinishedHead, chunk])
      const end = bytes.indexOf(headEnd)
      if (end < 0) {
        // A copy, because the buffer that the chunk lies in is filled anew.
        unfinishedHead = Buffer.from(bytes)
        if (bytes.length > 65_536) throw new Surprise('sent a head without an end')
        return undefined
      }
      unfinishedHead = none
      head = readHead(bytes.toString('latin1', 0, end + 2))
      missing = head.length
      rest = bytes.subarray(end + 4)
    }
    missing -= rest.length
    if (missing < 0) throw new Surprise('sent more bytes than its content-length says')
    if (missing > 0) {
      if (keepBody) pieces.push(Buffer.from(rest))
      return undefined
    }
    const { status, busy } = head
    const body = pieces.length === 0 ? rest : Buffer.concat([...pieces, rest])
    head = undefined
    if (pieces.length > 0) pieces = []
    return { status, busy, body }
  }
}

type Head = { status: number; busy: boolean; length: number }

const statusLine = /^HTTP\/1\.1 [2-5]\d\d [^\r\n]*\r\n/
const contentLength = /\r\ncontent-length: *([^\r\n]*)/i
const unfit = /\r\n(transfer-encoding: *[^\r\n]*|connection:(?! *keep-alive\r\n)[^\r\n]*)/i
const retryAfter = /\r\nretry-after: *\d+\r\n/i

function readHead(head: string): Head {
  if (!statusLine.test(head)) throw new Surprise('sent something that is not an HTTP/1.1 answer')
  const length = contentLength.exec(head)
  if (!length) throw new Surprise('sent no content-length')
  const [line, value = ''] = length
  if (!/^\d{1,9}$/.test(value) || contentLength.test(head.slice(length.index + line.length)))
    throw new Surprise('sent an odd content-length')
  const problem = unfit.exec(head)?.[1]
  if (problem !== undefined) throw new Surprise(`sent ${problem.toLowerCase()}`)
  const status = Number(head.slice(9, 12))
  return { status, busy: status === 503 && retryAfter.test(head), length: Number(value) }
}
