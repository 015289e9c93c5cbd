import { type KeyObject, X509Certificate } from 'node:crypto'
import { type Element, isOid, oid, tagged } from './der.ts'

/** What Apple marks the certificates of its payments with; the values do not matter. */
const marks = { leaf: oid('1.2.840.113635.100.6.29'), intermediate: oid('1.2.840.113635.100.6.2.14') }

/** The key of whoever signed, where the root has vouched for the intermediate, and that for the leaf; undefined for anybody else. */
export function signerKey(certificates: readonly Element[], { root, now }: { root: string; now: Date }): KeyObject | undefined {
  const leaves = certificates.filter((each) => hasExtension(each, marks.leaf))
  const intermediates = certificates.filter((each) => hasExtension(each, marks.intermediate))
  const [leaf, intermediate] = [leaves[0], intermediates[0]]
  if (!leaf || !intermediate || leaf === intermediate || leaves.length > 1 || intermediates.length > 1) return undefined
  try {
    const top = new X509Certificate(root)
    // No key is used before somebody has vouched for it.
    const middle = vouched(new X509Certificate(intermediate.whole), { by: top, now })
    return middle && vouched(new X509Certificate(leaf.whole), { by: middle, now })?.publicKey
  } catch {
    return undefined
  }
}

function vouched(certificate: X509Certificate, { by, now }: { by: X509Certificate; now: Date }): X509Certificate | undefined {
  const valid = [certificate, by].every(({ validFromDate, validToDate }) => validFromDate <= now && now <= validToDate)
  return valid && by.ca && certificate.checkIssued(by) && certificate.verify(by.publicKey) ? certificate : undefined
}

/** RFC 5280: the extensions are the last of what is signed. */
function hasExtension(certificate: Element, name: Buffer): boolean {
  const extensions = certificate.children[0]?.children.find(({ tag }) => tag === tagged(3))?.children[0]
  return extensions?.children.some(({ children }) => isOid(children[0], name)) ?? false
}
