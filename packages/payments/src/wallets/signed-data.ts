import { type Element, isOid, oid, readDer, tagged, tags } from './der.ts'

/** RFC 5652: what somebody signed that stands elsewhere, in the one form that wallets sign: SHA-256, one signer, and when they did it. */

const names = {
  signedData: oid('1.2.840.113549.1.7.2'),
  data: oid('1.2.840.113549.1.7.1'),
  contentType: oid('1.2.840.113549.1.9.3'),
  digest: oid('1.2.840.113549.1.9.4'),
  time: oid('1.2.840.113549.1.9.5'),
  sha256: oid('2.16.840.1.101.3.4.2.1'),
  ecdsaWithSha256: oid('1.2.840.10045.4.3.2'),
}

type SignedData = {
  certificates: readonly Element[]
  /** Of what was signed. */
  digest: Buffer
  time: Date
  /** What the signature is over: the digest and the time are in it. */
  attributes: Buffer
  signature: Buffer
}

export function readSignedData(bytes: Buffer): SignedData | undefined {
  const [type, wrapped] = childrenOf(readDer(bytes), tags.sequence)
  if (!isOid(type, names.signedData)) return undefined
  const [body, ...surplus] = childrenOf(wrapped, tagged(0))
  const [, , content, ...parts] = childrenOf(body, tags.sequence)
  const [contentType, ...enclosed] = childrenOf(content, tags.sequence)
  // What is signed stands elsewhere: if it were here as well, there would be two of it.
  if (surplus.length > 0 || !isOid(contentType, names.data) || enclosed.length > 0) return undefined
  const certificates = parts.find((part) => part.tag === tagged(0))
  const [signer, ...others] = childrenOf(parts.at(-1), tags.set)
  const signed = others.length === 0 ? readSigner(signer) : undefined
  return certificates && signed && { certificates: certificates.children, ...signed }
}

function readSigner(signer: Element | undefined): Omit<SignedData, 'certificates'> | undefined {
  const [, , digestAlgorithm, attributes, algorithm, signature] = childrenOf(signer, tags.sequence)
  if (attributes?.tag !== tagged(0) || signature?.tag !== tags.octets) return undefined
  if (!isOid(digestAlgorithm?.children[0], names.sha256)) return undefined
  if (!isOid(algorithm?.children[0], names.ecdsaWithSha256)) return undefined
  const [type, digest, time] = [names.contentType, names.digest, names.time].map((name) => attribute(attributes, name))
  const moment = readTime(time)
  if (!isOid(type, names.data) || digest?.tag !== tags.octets || !moment) return undefined
  return { digest: digest.content, time: moment, attributes: asSet(attributes), signature: signature.content }
}

/** The one value of the one attribute of that name: with two of them, it would be anybody's guess which one counts. */
function attribute(attributes: Element, name: Buffer): Element | undefined {
  const found = attributes.children.filter(({ children }) => isOid(children[0], name))
  const [values, value] = [found[0]?.children[1], found[0]?.children[1]?.children[0]]
  return found.length === 1 && values?.tag === tags.set && values.children.length === 1 ? value : undefined
}

/** They are signed as the set that they are, and sent under another tag. */
function asSet({ whole }: Element): Buffer {
  return Buffer.concat([Buffer.from([tags.set]), whole.subarray(1)])
}

function readTime(element: Element | undefined): Date | undefined {
  if (element?.tag !== tags.utcTime && element?.tag !== tags.time) return undefined
  const text = element.content.toString('latin1')
  const short = element.tag === tags.utcTime
  const century = Number(text.slice(0, 2)) < 50 ? '20' : '19'
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(short ? century + text : text) ?? []
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(time.getTime()) ? undefined : time
}

function childrenOf(element: Element | undefined, tag: number): readonly Element[] {
  return element?.tag === tag ? element.children : []
}
