import { Moment } from '@tollgate/kit/shape'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { app } from '../callers.ts'
import { Id } from '../shapes.ts'

export const me = endpoint({
  method: 'GET',
  path: '/me',
  summary: 'Tell which app is asking',
  tag: 'Apps',
  caller: app,
  reply: {
    200: Type.Object({
      identity: Type.Object({ id: Id, name: Type.Union([Type.String(), Type.Null()]), created: Moment }),
    }),
  },
  fails: [],

  run(_, { who }) {
    return { identity: who }
  },
})
