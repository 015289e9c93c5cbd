import { Moment } from '@tollgate/kit/shape'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { Id } from '../shapes.ts'

export const me = endpoint({
  method: 'GET',
  path: '/me',
  summary: 'Tell which app or person is asking',
  tag: 'Apps',
  caller: identified,
  reply: {
    200: Type.Object({
      identity: Type.Object({
        id: Id,
        name: Type.Union([Type.String(), Type.Null()]),
        created: Moment,
        email: Type.Optional(Type.String({ description: 'Of a person' })),
      }),
    }),
  },
  fails: [],

  run(_, { who }) {
    return { identity: who }
  },
})
