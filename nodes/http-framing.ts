/** How the end of an HTTP/1.1 message is found, by looking at its bytes as they pass. */
export type Framing = {
  /** How many of these bytes belong to the message: all of them, unless it ends among them. */
  take(bytes: Buffer): number
  state(): 'under way' | 'whole' | 'unclear'
  /** The first line, once it is there. */
  firstLine(): string
}

const mostHead = 65_536

/** Unclear is what only the end of the connection ends, and what another reader might read otherwise. */
export function requestFraming(): Framing {
  return framing(({ first, headers }) => {
    if (!/^[A-Z]+ \S+ HTTP\/1\.1$/.test(first) || /^CONNECT /.test(first) || headers.has('upgrade')) return 'unclear'
    return bodyOf(headers, 0)
  })
}

export function answerFraming(request: Framing): Framing {
  return framing(({ first, headers }) => {
    const [, status = ''] = /^HTTP\/1\.1 (\d{3})/.exec(first) ?? []
    if (status === '' || status === '101' || headers.get('connection')?.toLowerCase() === 'close') return 'unclear'
    if (status.startsWith('1')) return 'another'
    if (request.firstLine().startsWith('HEAD ') || status === '204' || status === '304') return 0
    return bodyOf(headers, 'unclear')
  })
}

type Head = { first: string; headers: Map<string, string> }
type Body = number | 'chunked' | 'unclear' | 'another'

function bodyOf(headers: Map<string, string>, otherwise: Body): Body {
  const [length, coding] = [headers.get('content-length'), headers.get('transfer-encoding')]
  if (coding !== undefined) return coding.toLowerCase() === 'chunked' && length === undefined ? 'chunked' : 'unclear'
  if (length === undefined) return otherwise
  return /^\d{1,15}$/.test(length) ? Number(length) : 'unclear'
}

/** Undefined where a head is not as everybody would write it. */
function readHead(text: string): Head | undefined {
  const [first = '', ...lines] = text.split('\r\n')
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? []
    if (name === undefined || value === undefined) return undefined
    const key = name.toLowerCase()
    if (headers.has(key) && ['content-length', 'transfer-encoding'].includes(key)) return undefined
    headers.set(key, value)
  }
  return { first, headers }
}

function framing(bodyAfter: (head: Head) => Body): Framing {
  let line = ''
  let state: 'under way' | 'whole' | 'unclear' = 'under way'
  let held = ''
  let left = 0
  let chunked = false
  let step: 'head' | 'bytes' | 'size' | 'after chunk' | 'trailer' = 'head'

  /** Collects a line, or a head, and gives it without its end. */
  function until(mark: string, bytes: Buffer, at: number): { text: string | undefined; next: number } {
    const before = held.length
    held += bytes.toString('latin1', at)
    const end = held.indexOf(mark)
    if (end < 0) {
      if (held.length > mostHead) state = 'unclear'
      return { text: undefined, next: bytes.length }
    }
    const text = held.slice(0, end)
    held = ''
    return { text, next: at + end + mark.length - before }
  }

  function afterHead(text: string) {
    const head = readHead(text)
    const body = head ? bodyAfter(head) : 'unclear'
    line ||= head?.first ?? ''
    if (body === 'unclear') state = 'unclear'
    else if (body === 'chunked') {
      step = 'size'
      chunked = true
    } else if (body === 0) state = 'whole'
    else if (body !== 'another') {
      step = 'bytes'
      left = body
    }
  }

  function afterSize(text: string) {
    const [, size] = /^([0-9a-fA-F]{1,8})(?:;.*)?$/.exec(text) ?? []
    if (size === undefined) {
      state = 'unclear'
      return
    }
    left = Number.parseInt(size, 16)
    step = left === 0 ? 'trailer' : 'bytes'
  }

  return {
    state: () => state,
    firstLine: () => line,
    take(bytes) {
      let at = 0
      while (at < bytes.length && state === 'under way') {
        if (step === 'bytes') {
          const part = Math.min(left, bytes.length - at)
          at += part
          left -= part
          if (left === 0) {
            if (chunked) step = 'after chunk'
            else state = 'whole'
          }
          continue
        }
        const { text, next } = until(step === 'head' ? '\r\n\r\n' : '\r\n', bytes, at)
        at = next
        if (text === undefined) continue
        if (step === 'head') afterHead(text)
        else if (step === 'size') afterSize(text)
        else if (step === 'after chunk') step = 'size'
        else if (text === '') state = 'whole'
      }
      return state === 'unclear' ? bytes.length : at
    },
  }
}
