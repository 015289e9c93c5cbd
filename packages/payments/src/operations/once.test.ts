import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashKey } from '../rules/keys.ts'
import { type Claim, insertAnswered } from '../store/idempotency.ts'
import { createApp, startPayments } from '../testing.ts'
import { once } from './once.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

test('a key that money is moved under meanwhile is refused, and nothing is made', async () => {
  const { app, call, now } = service
  const owner = await createApp(call)
  const claim: Claim = {
    ...{ ownerId: owner.id, key: 'taken', keyHash: hashKey('taken').toString('hex') },
    ...{ fingerprint: Buffer.from('one'), method: 'POST', path: '/apps' },
  }
  const meanwhile = { ...claim, fingerprint: Buffer.from('other'), path: '/transactions' }
  const making = once(app, claim, async (tx) => {
    await tx`update pay.apps set name = 'made' where id = ${owner.id}`
    // Captures and charges write their keys down with what they do, and hold nothing before that.
    await insertAnswered(app.db, meanwhile, { created: now(), status: 201, answer: Buffer.alloc(0) })
    return {}
  })
  await expect(making).rejects.toMatchObject({ code: 'idempotency_mismatch' })
  expect(await app.db`select name from pay.apps where id = ${owner.id}`).toEqual([{ name: null }])
})
