import { findAsset } from '@tollgate/checkout/assets'
import { chooseEncoding } from '@tollgate/checkout/encoding'
import { Answer, anyone } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { fail } from '../errors.ts'

export const posAssets = endpoint({
  method: 'GET',
  path: '/pos/assets/{file}',
  summary: 'A file of the hosted page',
  description: 'Under a name that changes with its content: whoever has it need not ask for it again.',
  tag: 'Customers',
  caller: anyone,
  params: Type.Object({ file: Type.String({ maxLength: 100 }) }),
  reply: { 200: Type.Unsafe<Buffer>({ type: 'string', contentMediaType: 'text/plain' }) },
  fails: ['not_found'],

  async run(_, { params: { file }, request }) {
    const asset = await findAsset(file)
    if (!asset) throw fail('not_found')
    const encoding = chooseEncoding(request.headers['accept-encoding'])
    return new Answer(200, encoding === 'identity' ? asset.plain : asset[encoding], {
      'content-type': `${asset.type}; charset=utf-8`,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    })
  },
})
