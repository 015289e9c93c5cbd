import { createHash, verify } from 'node:crypto'
import { signerKey } from './certificate-chain.ts'
import { readSignedData } from './signed-data.ts'

type ApplePaySigned = {
  data: Buffer
  signature: Buffer
  header: { ephemeralPublicKey: Buffer; transactionId: Buffer; applicationData?: Buffer }
}

/** When the payer agreed, if Apple says so; or what speaks against it. */
export function signingTime(signed: ApplePaySigned, { root, now }: { root: string; now: Date }): Date | { wrong: string } {
  const read = readSignedData(signed.signature)
  if (!read) return { wrong: 'its signature cannot be read' }
  const key = signerKey(read.certificates, { root, now })
  if (!key) return { wrong: 'its signature is not by somebody whom Apple vouches for' }
  const { ephemeralPublicKey, transactionId, applicationData = Buffer.alloc(0) } = signed.header
  const content = Buffer.concat([ephemeralPublicKey, signed.data, transactionId, applicationData])
  const digest = createHash('sha256').update(content).digest()
  const genuine = digest.equals(read.digest) && verify('sha256', read.attributes, key, read.signature)
  return genuine ? read.time : { wrong: 'its signature is of something else' }
}
