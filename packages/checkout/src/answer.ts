import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { chooseEncoding } from './encoding.ts'

export type Kind = 'link' | 'popup'

/** A page as it goes out. `frames`: the origin whose pages a payer's bank asks on. */
export async function answerPage(
  page: string,
  { kind, frames, acceptEncoding }: { kind: Kind; frames: string; acceptEncoding: string | string[] | undefined },
): Promise<{ body: Buffer; headers: Record<string, string> }> {
  const encoding = chooseEncoding(acceptEncoding)
  return {
    body: await encode(Buffer.from(page), encoding),
    headers: {
      ...pageHeaders(kind, frames),
      vary: 'Accept-Encoding, Accept-Language',
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    },
  }
}

/** Nothing in a page is secret and nobody's but what its reader sent, so that its size tells nothing. */
async function encode(page: Buffer, encoding: 'br' | 'gzip' | 'identity'): Promise<Buffer> {
  if (encoding === 'identity') return page
  if (encoding === 'gzip') return promisify(gzip)(page)
  return promisify(brotliCompress)(page, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
}

/**
 * Nothing in a page comes from elsewhere, and nothing goes elsewhere, but for the frames in which a payer's bank asks. The page of a link may
 * not be shown inside another; that of the popup is made for it.
 */
function pageHeaders(kind: Kind, frames: string): Record<string, string> {
  const policy = [
    "default-src 'none'",
    ...['script-src', 'style-src', 'connect-src', 'img-src'].map((each) => `${each} 'self'`),
    `frame-src 'self' ${frames}`,
    `form-action 'self' ${frames}`,
    "base-uri 'none'",
    `frame-ancestors ${kind === 'popup' ? '*' : "'none'"}`,
  ]
  return {
    'content-security-policy': policy.join('; '),
    'referrer-policy': 'no-referrer',
    'permissions-policy':
      'camera=(), microphone=(), geolocation=(), usb=(), serial=(), display-capture=(), payment=(), browsing-topics=()',
    // For old browsers, which know no frame-ancestors.
    ...(kind === 'link' ? { 'x-frame-options': 'DENY', 'cross-origin-opener-policy': 'same-origin' } : {}),
  }
}
