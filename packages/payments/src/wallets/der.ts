/** ITU-T X.690. */

/** One element of ASN.1 data: views of the bytes that it was read from. Only a constructed element has children. */
export type Element = { tag: number; whole: Buffer; content: Buffer; children: readonly Element[] }

/** What we read is a tenth of that, and a tree of millions of empty elements must not be grown. */
const largest = 16_384
const deepest = 24

/**
 * The one element that fills these bytes; undefined for anything else. Tags and lengths have to be as short as DER wants them, except that
 * a constructed element may leave its length open, as in BER: wallets sign while they stream.
 */
export function readDer(bytes: Buffer): Element | undefined {
  if (bytes.length > largest) return undefined
  const element = readElement(bytes, deepest)
  return element?.whole.length === bytes.length ? element : undefined
}

/** The element at the front of these bytes. */
function readElement(bytes: Buffer, depth: number): Element | undefined {
  const [tag = 0, length] = [bytes[0], readLength(bytes)]
  const constructed = (tag & 0x20) !== 0
  if (tag === 0 || (tag & 0x1f) === 0x1f || !length || depth === 0) return undefined
  if (length.size === 'open') return constructed ? readOpen(bytes, depth) : undefined
  const end = length.start + length.size
  if (end > bytes.length) return undefined
  const content = bytes.subarray(length.start, end)
  const children = constructed ? readAll(content, depth - 1) : []
  return children && { tag, whole: bytes.subarray(0, end), content, children }
}

type Length = { size: number | 'open'; start: number }

function readLength(bytes: Buffer): Length | undefined {
  const first = bytes[1]
  if (first === undefined) return undefined
  if (first < 0x80) return { size: first, start: 2 }
  if (first === 0x80) return { size: 'open', start: 2 }
  const count = first - 0x80
  if (count > 2 || bytes.length < 2 + count) return undefined
  const size = bytes.readUIntBE(2, count)
  const shortest = size >= (count === 1 ? 0x80 : 0x100)
  return shortest ? { size, start: 2 + count } : undefined
}

function readAll(content: Buffer, depth: number): Element[] | undefined {
  const elements: Element[] = []
  for (let at = 0; at < content.length; ) {
    const element = readElement(content.subarray(at), depth)
    if (!element) return undefined
    elements.push(element)
    at += element.whole.length
  }
  return elements
}

/** An element of open length goes on until two zeros. */
function readOpen(bytes: Buffer, depth: number): Element | undefined {
  const children: Element[] = []
  let at = 2
  while (bytes[at] !== 0) {
    const element = readElement(bytes.subarray(at), depth - 1)
    if (!element) return undefined
    children.push(element)
    at += element.whole.length
  }
  if (bytes[at + 1] !== 0) return undefined
  return { tag: bytes.readUInt8(0), whole: bytes.subarray(0, at + 2), content: bytes.subarray(2, at), children }
}

/** The bytes that `1.2.840.…` is written with. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return Buffer.from([first * 40 + second, ...rest].flatMap(inSevens))
}

function inSevens(number: number): number[] {
  const groups = [number % 128]
  for (let left = Math.floor(number / 128); left > 0; left = Math.floor(left / 128)) groups.unshift((left % 128) + 128)
  return groups
}

export const tags = { octets: 0x04, oid: 0x06, utcTime: 0x17, time: 0x18, sequence: 0x30, set: 0x31 } as const

export function isOid(element: Element | undefined, expected: Buffer): boolean {
  return element?.tag === tags.oid && element.content.equals(expected)
}

/** The tag of what ASN.1 writes as `[number]`, where something stands in it. */
export function tagged(number: number): number {
  return 0xa0 + number
}
