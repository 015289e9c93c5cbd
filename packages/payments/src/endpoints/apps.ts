import { randomUUID } from 'node:crypto'
import { anyone } from '@tollgate/kit/endpoint'
import { randomTag } from '@tollgate/kit/id'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { hashKey } from '../rules/keys.ts'
import { AppName, Id } from '../shapes.ts'
import { insertApp } from '../store/apps.ts'

export const apps = endpoint({
  method: 'POST',
  path: '/apps',
  summary: 'Create an app',
  description: 'Needs no credentials, and does not mind useless ones. The key is shown here and never again: keep it.',
  tag: 'Apps',
  caller: anyone,
  body: Type.Object({ name: Type.Optional(AppName) }),
  reply: {
    201: Type.Object({
      app: Type.Object({
        id: Id,
        name: Type.Union([Type.String(), Type.Null()]),
        key: Type.String({ format: 'uuid', description: 'The secret API key' }),
      }),
    }),
  },
  fails: [],

  async run({ db, now, mintId }, { body }) {
    const key = randomUUID()
    const app = { id: mintId(randomTag()), name: body.name ?? null, created: now() }
    // Handing out a key that opens nothing would be worse than an error.
    if (!(await insertApp(db, { ...app, keyHash: hashKey(key) }))) throw new Error(`the id ${app.id} was minted twice`)
    return { app: { ...app, key } }
  },
})
