import { type KeyObject, sign } from 'node:crypto'
import { oid, tagged, tags } from './der.ts'

/** Writes DER, and issues certificates (RFC 5280), as somebody would who has an authority of their own. */
export function der(tag: number, ...parts: readonly (Buffer | string)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)))
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content])
}

/** The same with an open length, as those write it who do not know yet how much there will be. */
export function openDer(tag: number, ...parts: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from([tag, 0x80]), ...parts, Buffer.from([0, 0])])
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  return length < 0x100 ? Buffer.from([0x81, length]) : Buffer.from([0x82, length >> 8, length & 0xff])
}

export const sequence = (...parts: readonly Buffer[]) => der(tags.sequence, ...parts)
export const set = (...parts: readonly Buffer[]) => der(tags.set, ...parts)
export const name = (dotted: string) => der(tags.oid, oid(dotted))
export const octets = (bytes: Buffer) => der(tags.octets, bytes)
export const integer = (value: number) => der(0x02, Buffer.from([value]))

export const ecdsaWithSha256 = sequence(name('1.2.840.10045.4.3.2'))

/** The form for the years from 1950 to 2049. */
export function utcTime(time: Date): Buffer {
  return der(tags.utcTime, `${time.toISOString().slice(2, 19).replaceAll(/[-T:]/g, '')}Z`)
}

type Issued = {
  subject: string
  issuer: string
  publicKey: KeyObject
  /** Of the issuer. */
  privateKey: KeyObject
  ca: boolean
  /** The names of extensions besides. */
  marks?: readonly string[]
  from?: Date
  to?: Date
}

export function issueCertificate(issued: Issued): Buffer {
  const { subject, issuer, publicKey, privateKey, ca, marks = [] } = issued
  const { from = new Date('2020-01-01T00:00:00Z'), to = new Date('2045-01-01T00:00:00Z') } = issued
  const constraints = sequence(name('2.5.29.19'), octets(sequence(...(ca ? [der(0x01, Buffer.from([0xff]))] : []))))
  const others = marks.map((mark) => sequence(name(mark), octets(der(0x05))))
  const content = sequence(
    der(tagged(0), integer(2)),
    integer(7),
    ecdsaWithSha256,
    distinguished(issuer),
    sequence(utcTime(from), utcTime(to)),
    distinguished(subject),
    publicKey.export({ format: 'der', type: 'spki' }),
    der(tagged(3), sequence(constraints, ...others)),
  )
  const signature = sign('sha256', content, privateKey)
  return sequence(content, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature))
}

function distinguished(commonName: string): Buffer {
  return sequence(set(sequence(name('2.5.4.3'), der(0x0c, commonName))))
}
