import type { Db, Tx } from '@tollgate/kit/db'
import type { TestedService } from '@tollgate/kit/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { App } from '../app.ts'
import { startPayments } from '../testing.ts'
import { aboutCard } from '../vault/about-card.ts'
import { testVault } from '../vault/testing.ts'
import type { Vault } from '../vault/vault.ts'
import { rotateVault } from './rotate-vault.ts'

let service: TestedService<App>
beforeAll(async () => {
  service = await startPayments()
})
beforeEach(async () => {
  await service.app.db`delete from pay.agreements`
})
afterAll(() => service.stop())

const merchantId = '5d18a5000000000000000001'
const [old, both, fresh] = [testVault('old'), testVault('new', 'old'), testVault('new')]
const idOf = (number: number) => number.toString(16).padStart(24, '0')
const numberOf = (number: number) => String(4_100_000_000_000_000 + number)

async function plantCards(vault: Vault, from: number, to: number) {
  for (let number = from; number < to; number++)
    await plantCard(number, vault.lock(numberOf(number), aboutCard({ merchantId, transactionId: idOf(number) })))
}

async function plantCard(number: number, card: Buffer | null) {
  await service.app.db`
    insert into pay.agreements (merchant_id, transaction_id, created, unplanned_merchant, unplanned_customer, card)
    values (${merchantId}, ${idOf(number)}, ${service.now()}, true, false, ${card})`
}

/** The numbers as a vault sees them, by place. */
async function seenBy(vault: Vault): Promise<(string | undefined)[]> {
  const rows = await service.app.db<{ transactionId: string; card: Buffer }>`
    select transaction_id as "transactionId", card from pay.agreements where card is not null order by transaction_id`
  return rows.map(({ transactionId, card }) => vault.unlock(card, aboutCard({ merchantId, transactionId }))?.reveal())
}

test('every card is moved to the first key, batch by batch, and none a second time', async () => {
  await plantCards(old, 0, 7)
  await plantCards(fresh, 7, 9)
  await plantCard(9, null)
  const app = { db: service.app.db, vault: both }
  expect(await rotateVault(app, 3)).toEqual({ moved: 7, unopened: 0, needed: [{ keyId: 'new', cards: 9 }] })
  expect(await seenBy(fresh)).toEqual(Array.from({ length: 9 }, (_, number) => numberOf(number)))
  expect(await seenBy(old)).toEqual(Array.from({ length: 9 }))
  expect(await rotateVault(app, 3)).toEqual({ moved: 0, unopened: 0, needed: [{ keyId: 'new', cards: 9 }] })
})

test('without any cards there is nothing to do', async () => {
  expect(await rotateVault({ db: service.app.db, vault: both })).toEqual({ moved: 0, unopened: 0, needed: [] })
})

/** A database on which something else happens before each statement that changes a row. */
function interrupted(happen: (change: number) => Promise<void>): Db {
  let changes = 0
  const sql = async (template: TemplateStringsArray, ...values: never[]) => {
    if (template.join('').includes('update pay.agreements')) await happen(++changes)
    return service.app.db(template, ...values)
  }
  return Object.assign(sql, {
    begin: (story: (tx: Tx) => Promise<never>) => service.app.db.begin(story),
    close: () => service.app.db.close(),
  }) as unknown as Db
}

test('a card that is changed or deleted while it is being moved stays as it was changed', async () => {
  await plantCards(old, 0, 3)
  const changed = old.lock('5500000000000000', aboutCard({ merchantId, transactionId: idOf(1) }))
  const db = interrupted(async () => {
    await service.app.db`update pay.agreements set card = ${changed} where transaction_id = ${idOf(1)}`
    await service.app.db`delete from pay.agreements where transaction_id = ${idOf(2)}`
  })
  expect(await rotateVault({ db, vault: both })).toEqual({
    moved: 1,
    unopened: 0,
    needed: [
      { keyId: 'new', cards: 1 },
      { keyId: 'old', cards: 1 },
    ],
  })
  expect(await seenBy(both)).toEqual([numberOf(0), '5500000000000000'])
})

test('what was killed halfway is finished by the next one', async () => {
  await plantCards(old, 0, 6)
  const db = interrupted(async (change) => {
    if (change === 2) throw new Error('killed')
  })
  await expect(rotateVault({ db, vault: both }, 2)).rejects.toThrow('killed')
  expect((await seenBy(fresh)).filter((number) => number !== undefined).length).toBe(2)
  expect(await rotateVault({ db: service.app.db, vault: both }, 2)).toMatchObject({
    moved: 4,
    needed: [{ keyId: 'new', cards: 6 }],
  })
})

test('two at once move every card once', async () => {
  await plantCards(old, 0, 40)
  const app = { db: service.app.db, vault: both }
  const rotations = await Promise.all([rotateVault(app, 7), rotateVault(app, 5)])
  expect(rotations.reduce((sum, { moved }) => sum + moved, 0)).toBe(40)
  expect(await seenBy(fresh)).toEqual(Array.from({ length: 40 }, (_, number) => numberOf(number)))
})

test('cards that no key opens are counted and left as they are', async () => {
  await plantCards(testVault('lost'), 0, 2)
  await plantCards(old, 2, 3)
  // The card of one payment in the row of another, and what never was a card.
  await plantCard(3, old.lock(numberOf(2), aboutCard({ merchantId, transactionId: idOf(2) })))
  await plantCard(4, Buffer.from('\x01'))
  await plantCard(5, Buffer.from('\x01\xff\xfe\0', 'latin1'))
  const before = await service.app
    .db`select transaction_id, card from pay.agreements where transaction_id <> ${idOf(2)} order by 1`
  const { moved, unopened, needed } = await rotateVault({ db: service.app.db, vault: both })
  expect([moved, unopened]).toEqual([1, 5])
  expect(needed).toEqual(
    expect.arrayContaining([
      { keyId: 'lost', cards: 2 },
      { keyId: 'new', cards: 1 },
      { keyId: 'old', cards: 1 },
    ]),
  )
  expect(
    await service.app.db`select transaction_id, card from pay.agreements where transaction_id <> ${idOf(2)} order by 1`,
  ).toEqual(before)
})
