import { Answer, anyone } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { endpoint } from '../app.ts'

export const wellKnownJwks = endpoint({
  method: 'GET',
  path: '/.well-known/jwks.json',
  summary: 'Give the public keys that access tokens are verified with',
  description: 'Empty while tokens are signed with the secret alone: that is for nobody to see.',
  tag: 'About',
  caller: anyone,
  reply: {
    200: Type.Object({ keys: Type.Array(Type.Unsafe<Readonly<Record<string, unknown>>>({ description: 'A public JWK' })) }),
  },
  fails: [],
  constant: true,

  run({ keys }) {
    return new Answer(200, { keys: [...keys.publicJwks().keys] }, { 'cache-control': 'public, max-age=600' })
  },
})
