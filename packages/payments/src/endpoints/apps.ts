import { anyone } from '@tollgate/kit/endpoint'
import { randomTag } from '@tollgate/kit/id'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { limitCaller } from '../operations/limit.ts'
import { once, onceFails } from '../operations/once.ts'
import { readClaim } from '../operations/read-claim.ts'
import { hashKey, newKey } from '../rules/keys.ts'
import { AppName, Id, idempotencyNote } from '../shapes.ts'
import { insertApp } from '../store/apps.ts'

export const apps = endpoint({
  method: 'POST',
  path: '/apps',
  summary: 'Create an app',
  description: `Needs no credentials, and does not mind useless ones. The key is shown here and never again: keep it. ${idempotencyNote}

Nobody is known here, so a key has to be one that nobody else would think of.`,
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
  fails: [...onceFails, 'over_rate_limit'],

  async run(app, { body, request }) {
    await limitCaller(app, request, 'newcomers', app.config.rateLimit.newcomers)
    return once(app, readClaim({ who: undefined, request, body }), async (tx) => {
      const key = newKey()
      const made = { id: app.mintId(randomTag()), name: body.name ?? null, created: app.now() }
      // Handing out a key that opens nothing would be worse than an error.
      if (!(await insertApp(tx, { ...made, keyHash: hashKey(key) }))) throw new Error(`the id ${made.id} was minted twice`)
      return { app: { ...made, key } }
    })
  },
})
