import { brotliCompressSync, gzipSync } from 'node:zlib'
import { chooseEncoding } from '@tollgate/checkout/encoding'
import { Answer, anyone } from '@tollgate/kit/endpoint'
import { sdkScript } from '@tollgate/sdk/script'
import Type from 'typebox'
import { endpoint } from '../app.ts'

/** What shops load into their pages; by its number as well, as shops of long standing do. */
export const sdk = scriptAt('/sdk.js', 'The script with which the pages of shops open the popup')
export const sdkTen = scriptAt('/10.js', 'The same script, under the address that pages made for Paylike load')

function scriptAt(path: string, summary: string) {
  return endpoint({
    method: 'GET',
    path,
    summary,
    tag: 'Customers',
    caller: anyone,
    reply: { 200: Type.Unsafe<Buffer>({ type: 'string', contentMediaType: 'text/javascript' }) },
    fails: [],
    quiet: true,

    async run(_, { request }) {
      const encoding = chooseEncoding(request.headers['accept-encoding'])
      return new Answer(200, (await script())[encoding], {
        // Every page of every shop asks for it; a correction still is everywhere within minutes.
        'cache-control': 'public, max-age=300',
        vary: 'Accept-Encoding',
        ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
        // So that a page may check it against a hash, and may keep everything out that does not say it is for others.
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
      })
    },
  })
}

type Encoded = { identity: Buffer; br: Buffer; gzip: Buffer }

let made: Promise<Encoded> | undefined

function script(): Promise<Encoded> {
  made ??= makeScript().catch((problem) => {
    made = undefined
    throw problem
  })
  return made
}

async function makeScript(): Promise<Encoded> {
  const identity = Buffer.from(await sdkScript())
  return { identity, br: brotliCompressSync(identity), gzip: gzipSync(identity) }
}
