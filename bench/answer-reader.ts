/** Something that a well-behaved server does not send. */
export class Surprise extends Error {}

/** Takes the bytes of a connection as they come, and returns the status when an answer is complete. */
export type AnswerReader = (chunk: Buffer) => number | undefined

const headEnd = Buffer.from('\r\n\r\n')
const none = Buffer.alloc(0)

/** Reads one answer at a time, since the next request is sent only after it: bytes beyond an answer are a surprise. */
export function createAnswerReader(): AnswerReader {
  let unfinishedHead = none
  let body: { status: number; missing: number } | undefined

  return (chunk) => {
    let rest = chunk
    if (!body) {
      const bytes = unfinishedHead.length === 0 ? chunk : Buffer.concat([unfinishedHead, chunk])
      const end = bytes.indexOf(headEnd)
      if (end < 0) {
        // A copy, because the buffer that the chunk lies in is filled anew.
        unfinishedHead = Buffer.from(bytes)
        if (bytes.length > 65_536) throw new Surprise('sent a head without an end')
        return undefined
      }
      unfinishedHead = none
      body = readHead(bytes.toString('latin1', 0, end + 2))
      rest = bytes.subarray(end + 4)
    }
    body.missing -= rest.length
    if (body.missing < 0) throw new Surprise('sent more bytes than its content-length says')
    if (body.missing > 0) return undefined
    const { status } = body
    body = undefined
    return status
  }
}

const statusLine = /^HTTP\/1\.1 [2-5]\d\d [^\r\n]*\r\n/
const contentLength = /\r\ncontent-length: *([^\r\n]*)/i
const unfit = /\r\n(transfer-encoding: *[^\r\n]*|connection:(?! *keep-alive\r\n)[^\r\n]*)/i

function readHead(head: string): { status: number; missing: number } {
  if (!statusLine.test(head)) throw new Surprise('sent something that is not an HTTP/1.1 answer')
  const length = contentLength.exec(head)
  if (!length) throw new Surprise('sent no content-length')
  const [line, value = ''] = length
  if (!/^\d{1,9}$/.test(value) || contentLength.test(head.slice(length.index + line.length)))
    throw new Surprise('sent an odd content-length')
  const problem = unfit.exec(head)?.[1]
  if (problem !== undefined) throw new Surprise(`sent ${problem.toLowerCase()}`)
  return { status: Number(head.slice(9, 12)), missing: Number(value) }
}
