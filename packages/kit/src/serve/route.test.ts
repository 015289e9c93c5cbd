import Type from 'typebox'
import { expect, test } from 'vitest'
import { endpoint, start } from './testing.ts'

const body = Type.Object({ softly: Type.Optional(Type.Boolean()) })
const more = [
  endpoint('DELETE', '/accounts', () => ({ ok: true }), { body }),
  endpoint('POST', '/accounts', () => ({ ok: true }), { body }),
]

test('where bodies are JSON, a DELETE may come without one and a POST may not', async () => {
  const { call } = await start({ more, manner: { bodies: 'json' } })
  expect((await call('DELETE /accounts')).status).toBe(200)
  expect((await call('POST /accounts')).status).toBe(400)
})

test('a DELETE that has a body is held to its shape', async () => {
  const { call } = await start({ more, manner: { bodies: 'json' } })
  expect((await call('DELETE /accounts', { json: { softly: true } })).status).toBe(200)
  expect((await call('DELETE /accounts', { json: { softly: 'perhaps' } })).status).toBe(400)
  expect((await call('DELETE /accounts', { raw: '{' })).status).toBe(400)
})

test('a DELETE whose shape requires something is refused without a body', async () => {
  const required = Type.Object({ reason: Type.String() })
  const { call } = await start({
    more: [endpoint('DELETE', '/reasoned', () => ({ ok: true }), { body: required })],
    manner: { bodies: 'json' },
  })
  expect((await call('DELETE /reasoned')).status).toBe(400)
})
