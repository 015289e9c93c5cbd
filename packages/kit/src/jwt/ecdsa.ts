/**
 * Tokens carry r and s side by side, OpenSSL speaks DER. Node can translate too (`dsaEncoding: 'ieee-p1363'`), but takes twice as
 * long to sign and a third longer to verify.
 */

const sequence = 0x30
const integer = 0x02

/** The DER form of `r‖s`. Its two halves are equally long; that they are numbers in range is for the verifier to find out. */
export function toDer(signature: Buffer): Buffer {
  const half = signature.length / 2
  const numbers = Buffer.concat([numberToDer(signature.subarray(0, half)), numberToDer(signature.subarray(half))])
  // The numbers of P-521 need more than the 127 bytes that the short form of a length can tell.
  const length = numbers.length < 0x80 ? [numbers.length] : [0x81, numbers.length]
  return Buffer.concat([Buffer.from([sequence, ...length]), numbers])
}

/** `r‖s`, each `size` bytes, of a signature that OpenSSL has just made. */
export function fromDer(der: Buffer, size: number): Buffer {
  const signature = Buffer.alloc(2 * size)
  let at = der.readUInt8(1) === 0x81 ? 3 : 2
  for (const end of [size, 2 * size]) {
    const length = der.readUInt8(at + 1)
    const number = der.subarray(at + 2, at + 2 + length)
    // A number with its highest bit set has a zero in front, so that it is not read as a negative one.
    const digits = number.length > size ? number.subarray(number.length - size) : number
    digits.copy(signature, end - digits.length)
    at += 2 + length
  }
  return signature
}

function numberToDer(digits: Buffer): Buffer {
  let start = 0
  while (start < digits.length - 1 && digits[start] === 0) start++
  const shortest = digits.subarray(start)
  const sign = (shortest[0] ?? 0) >= 0x80 ? [0] : []
  return Buffer.concat([Buffer.from([integer, shortest.length + sign.length, ...sign]), shortest])
}
