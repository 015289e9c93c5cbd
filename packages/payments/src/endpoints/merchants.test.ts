import { tagOf } from '@tollgate/kit/id'
import { signToken } from '@tollgate/kit/jwt'
import { Secret } from '@tollgate/kit/secret'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { companyCountries } from '../rules/countries.ts'
import { fundingCurrencies } from '../rules/currencies.ts'
import { createApp, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
let owner: Awaited<ReturnType<typeof createApp>>
beforeAll(async () => {
  service = await startPayments()
  owner = await createApp(service.call, 'Shop')
})
afterAll(() => service.stop())

type Told = { id: string; key: string; name: string | null; [field: string]: unknown }

const given = {
  name: 'Café & Bar 🍺',
  currency: 'EUR',
  test: true,
  email: 'Shop@example.com',
  website: 'https://shop.test',
  descriptor: 'Coffee & Cake',
  company: { country: 'DK', number: '36549095' },
  bank: { iban: 'DK50 0040 0440 1162 43' },
}

function create(json: unknown = given, authorization = owner.authorization) {
  return service.call('POST /merchants', { json, headers: { authorization } })
}

/** In a second of its own: inside one second merchants are in no order. */
async function created(json: unknown = given): Promise<Told> {
  service.now.advance(1)
  return (await create(json)).json<{ merchant: Told }>().merchant
}

function get(id: string, authorization = owner.authorization) {
  return service.call(`GET /merchants/${id}`, { headers: { authorization } })
}

function put(id: string, json: unknown, headers: Record<string, string> = { accept: '*/*' }) {
  return service.call(`PUT /merchants/${id}`, { json, headers: { authorization: owner.authorization, ...headers } })
}

async function seen(id: string): Promise<Told> {
  return (await get(id)).json<{ merchant: Told }>().merchant
}

const price = { rate: 0.025, flat: { currency: 'EUR', amount: 25 }, dispute: { currency: 'EUR', amount: 1500 } }

describe('creating', () => {
  test('a merchant has the fields that clients know, in their order and before ours, on one line', async () => {
    const answer = await create()
    expect(answer.status).toBe(201)
    expect(answer.text).toMatch(/^\{"merchant":\{[^\n]*\}\}\n$/)
    const { merchant } = answer.json<{ merchant: Told }>()
    expect(merchant).toEqual({
      ...given,
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      key: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      created: service.now().toISOString(),
      bank: { iban: 'DK5000400440116243' },
      balance: 0,
      claim: {
        ...{ canChargeCard: true, canSaveCard: true, canTransferToCard: false },
        ...{ canCapture: true, canRefund: true, canVoid: true },
      },
      pricing: { ...price, transfer: { toCard: price } },
      tds: { mode: 'attempt' },
      plans: 'record',
      accent: null,
    })
    expect(Object.keys(merchant).join()).toBe(
      'id,key,name,currency,test,email,website,descriptor,created,company,bank,balance,claim,pricing,tds,plans,accent',
    )
  })

  test('what creating told is what getting and listing tell', async () => {
    const merchant = await created()
    expect(await seen(merchant.id)).toEqual(merchant)
    const list = await service.call(`GET /identities/${owner.id}/merchants?limit=1`, {
      headers: { authorization: owner.authorization },
    })
    expect(list.text).toBe(`[\n${JSON.stringify(merchant)}\n]\n`)
  })

  test('what need not be given is null, false or not there', async () => {
    const { currency, email, website, descriptor } = given
    const merchant = await created({ currency, email, website, descriptor, company: { country: 'FO' } })
    expect(merchant).toMatchObject({ name: null, test: false })
    expect([merchant.company, merchant.bank]).toEqual([{ country: 'FO' }, {}])
    expect(await seen(merchant.id)).toEqual(merchant)
  })

  test('nothing, false and an empty text all mean not given', async () => {
    for (const nothing of [null, false, '']) {
      const merchant = await created({
        ...given,
        name: nothing,
        test: nothing,
        bank: nothing,
        company: { country: 'DK', number: nothing },
      })
      expect(merchant).toMatchObject({ name: null, test: false, bank: {}, company: { country: 'DK' } })
    }
  })

  test('a form says the same with brackets, yes and no', async () => {
    const form = {
      ...{
        name: 'Shop',
        currency: 'DKK',
        test: 'yes',
        email: ' shop@example.com ',
        website: 'test.com',
        descriptor: '1234567897891234',
      },
      ...{ 'company[country]': 'NL', 'company[number]': '123', 'bank[iban]': 'NL91ABNA0417164300' },
    }
    const headers = { authorization: owner.authorization }
    const first = await service.call('POST /merchants', { form, headers })
    expect(first.status).toBe(201)
    expect(first.json<{ merchant: Told }>().merchant).toMatchObject({
      ...{
        name: 'Shop',
        currency: 'DKK',
        test: true,
        email: 'shop@example.com',
        website: 'test.com',
        descriptor: '1234567897891234',
      },
      ...{ company: { country: 'NL', number: '123' }, bank: { iban: 'NL91ABNA0417164300' } },
    })
    for (const [text, test] of Object.entries({
      y: true,
      '1': true,
      TRUE: true,
      no: false,
      n: false,
      '0': false,
      False: false,
    })) {
      const answer = await service.call('POST /merchants', { form: { ...form, test: text }, headers })
      expect(answer.json<{ merchant: Told }>().merchant.test, text).toBe(test)
    }
  })

  test('every funding currency and every country is taken', async () => {
    expect([fundingCurrencies.length, companyCountries.length]).toEqual([12, 37])
    for (const currency of fundingCurrencies) expect((await create({ ...given, currency })).status).toBe(201)
    for (const country of companyCountries) expect((await create({ ...given, company: { country } })).status).toBe(201)
  })

  test('the price is the one of the settings, and stays when they change', async () => {
    const own = await startPayments({ PAY_PRICE_RATE: '0.014', PAY_PRICE_FLAT: 'DKK 1.5', PAY_PRICE_DISPUTE: 'GBP 20' })
    onTestFinished(() => own.stop())
    const { authorization } = await createApp(own.call)
    const { merchant } = (await own.call('POST /merchants', { json: given, headers: { authorization } })).json<{
      merchant: Told
    }>()
    const agreed = { rate: 0.014, flat: { currency: 'DKK', amount: 150 }, dispute: { currency: 'GBP', amount: 2000 } }
    expect(merchant.pricing).toEqual({ ...agreed, transfer: { toCard: agreed } })
    const rows = await own.app.db`select since, rate from pay.prices where merchant_id = ${merchant.id}`
    expect(rows).toEqual([{ since: own.now(), rate: '0.01400000' }])
  })

  test('the same merchant twice at once is two merchants, of different tags, each with one price and one member', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => created()))
    const ids = answers.map(({ id }) => id)
    expect(new Set(ids).size).toBe(20)
    expect(new Set(answers.map(({ key }) => key)).size).toBe(20)
    expect(new Set(ids.map(tagOf)).size).toBeGreaterThan(15)
    const rows = await service.app.db<{ prices: number; members: number }>`
      select (select count(*) from pay.prices where merchant_id = id) as prices,
        (select count(*) from pay.members where merchant_id = id and identity_id = ${owner.id} and kind = 'app') as members
      from pay.merchants where id = any(${ids})`
    expect(rows).toEqual(Array.from({ length: 20 }, () => ({ prices: 1, members: 1 })))
  })

  test('nothing at all is answered with every field that is missing', async () => {
    for (const raw of ['', '{}', '{"company":{}}']) {
      const headers = { authorization: owner.authorization, 'content-type': 'application/json' }
      const answer = await service.call('POST /merchants', { raw, headers })
      expect(answer.status).toBe(400)
      const problems = answer.json<{ field: string; message: string }[]>()
      expect(new Set(problems.map(({ message }) => message))).toEqual(new Set(['Required']))
      expect(problems.map(({ field }) => field)).toEqual(
        expect.arrayContaining(['currency', 'email', 'website', 'descriptor', expect.stringMatching(/^company/)]),
      )
    }
  })

  const invalidDescriptor = 'Invalid descriptor (see https://github.com/paylike/descriptor)'
  const currencies = 'Must be one of EUR, USD, GBP, DKK, NOK, SEK, CHF, HUF, PLN, RON, CZK, BGN'

  test.each([
    ['a currency that is not funded', { currency: 'JPY' }, 'currency', currencies],
    ['a currency in small letters', { currency: 'eur' }, 'currency', currencies],
    ['the name of every object as currency', { currency: 'constructor' }, 'currency', currencies],
    ['a currency that is a number', { currency: 978 }, 'currency', currencies],
    ['a test that is neither', { test: 'perhaps' }, 'test', 'Must be true or false'],
    ['a test that is a list', { test: [true] }, 'test', 'Must be true or false'],
    ['an email without a host', { email: 'shop' }, 'email', 'Must be a valid email'],
    ['an email with a second line', { email: 'a@b.dk\nBcc: c@d.dk' }, 'email', 'Must be a valid email'],
    ['an email of 10,000 characters', { email: `${'a'.repeat(10_000)}@b.dk` }, 'email', 'Must be at most 300 characters long'],
    ['blanks for an email', { email: '   ' }, 'email', 'Must be a valid email'],
    ['a website that is a script', { website: 'javascript:alert(1)' }, 'website', 'Must be a valid website'],
    ['a website that is a sentence', { website: 'not there yet' }, 'website', 'Must be a valid website'],
    ['a descriptor of 23 characters', { descriptor: 'x'.repeat(23) }, 'descriptor', invalidDescriptor],
    ['a descriptor with an ø', { descriptor: 'Smørrebrød' }, 'descriptor', invalidDescriptor],
    ['a descriptor with a line break', { descriptor: 'a\nb' }, 'descriptor', invalidDescriptor],
    ['a descriptor that ends with a line break', { descriptor: 'ab\n' }, 'descriptor', invalidDescriptor],
    ['a descriptor with an emoji', { descriptor: '🍺' }, 'descriptor', invalidDescriptor],
    ['a descriptor that is a number', { descriptor: 7 }, 'descriptor', 'Must be text'],
    ['a country elsewhere', { company: { country: 'US' } }, 'company.country', /^Must be one of AT, BE, .*, FO$/],
    ['a country in small letters', { company: { country: 'dk' } }, 'company.country', /^Must be one of /],
    ['no country', { company: { number: '1' } }, 'company.country', 'Required'],
    ['a company that is a text', { company: 'DK' }, 'company', 'Must be an object'],
    ['a company that is a list', { company: ['DK'] }, 'company', 'Must be an object'],
    ['a registration number that is an object', { company: { country: 'DK', number: {} } }, 'company.number', 'Must be text'],
    ['an account with wrong check digits', { bank: { iban: 'DK5100400440116243' } }, 'bank.iban', 'Must be a valid IBAN'],
    ['an account that is none', { bank: { iban: '__proto__' } }, 'bank.iban', 'Must be a valid IBAN'],
    ['a bank that is a text', { bank: 'DK5000400440116243' }, 'bank', 'Must be an object'],
    ['a name of 201 characters', { name: 'x'.repeat(201) }, 'name', 'Must be at most 200 characters long'],
    ['a name of almost a megabyte', { name: 'x'.repeat(1_000_000) }, 'name', 'Must be at most 200 characters long'],
    ['a name with a line break', { name: 'a\r\nb' }, 'name', 'Invalid'],
    ['a name that is an object', { name: { toString: 1 } }, 'name', 'Must be text'],
    ['a NUL', { name: 'a\0b' }, 'body', 'The body could not be read: text holds a NUL character'],
    ['half a surrogate pair', { name: '\ud83c' }, 'body', 'The body could not be read: text holds half a surrogate pair'],
  ])('%s is refused', async (_, wrong, field, message) => {
    const answer = await create({ ...given, ...wrong })
    expect(answer.status).toBe(400)
    const expected = typeof message === 'string' ? message : expect.stringMatching(message)
    expect(answer.json()).toEqual([{ field, message: expected }])
  })

  test('more than a megabyte is refused unread', async () => {
    const answer = await service.call('POST /merchants', {
      json: { ...given, name: 'x'.repeat(1_100_000) },
      headers: { authorization: owner.authorization, accept: '*/*' },
    })
    expect([answer.status, answer.json()]).toEqual([413, expect.objectContaining({ code: 'request_entity_too_large' })])
  })

  test('a name may be in any script, and 200 emojis long', async () => {
    for (const name of ['商店', 'متجر', "Robert'); drop table pay.merchants; --", '{{x}} %s $1', '🍺'.repeat(200), '__proto__'])
      expect((await created({ ...given, name })).name).toBe(name)
  })

  test('nobody chooses id, key, claims, price or balance, nor reaches a prototype', async () => {
    const json = JSON.stringify(given).replace(
      '{',
      '{"__proto__":{"balance":9},"constructor":{"prototype":{"balance":9}},"id":"0123456789abcdef01234567","key":"mine","balance":9,' +
        '"claim":{"canTransferToCard":true},"pricing":{"rate":0},',
    )
    const headers = { authorization: owner.authorization, 'content-type': 'application/json' }
    const { merchant } = (await service.call('POST /merchants', { raw: json, headers })).json<{ merchant: Told }>()
    expect(merchant).toMatchObject({ balance: 0, claim: { canTransferToCard: false }, pricing: { rate: 0.025 } })
    expect(merchant.id).not.toBe('0123456789abcdef01234567')
    expect(merchant.key).not.toBe('mine')
    expect(({} as { balance?: number }).balance).toBeUndefined()
  })

  test('a person who creates a merchant is its member, and no key of an app is shown to them', async () => {
    const secret = 'a secret that both services know of, 32+'
    const own = await startPayments({ PAY_JWT_SECRET: secret })
    onTestFinished(() => own.stop())
    const seconds = Math.floor(own.now().getTime() / 1000)
    const claims = { sub: 'ann', aud: 'authenticated', role: 'authenticated', email: 'ann@example.com', exp: seconds + 60 }
    const headers = { authorization: `Bearer ${signToken(claims, new Secret(secret))}` }
    const { merchant } = (await own.call('POST /merchants', { json: given, headers })).json<{ merchant: Told }>()
    const { identity } = (await own.call('GET /me', { headers })).json<{ identity: { id: string } }>()
    expect(await own.app.db`select identity_id, kind from pay.members where merchant_id = ${merchant.id}`).toEqual([
      { identity_id: identity.id, kind: 'user' },
    ])
    expect((await own.call(`GET /identities/${identity.id}/merchants?limit=1`, { headers })).json()).toEqual([merchant])
    const app = await createApp(own.call)
    await own.call(`POST /merchants/${merchant.id}/apps`, { json: { appId: app.id }, headers })
    expect((await own.call(`GET /merchants/${merchant.id}/apps?limit=1`, { headers })).json()).toEqual([
      { id: app.id, name: null, created: own.now().toISOString() },
    ])
  })

  test('nobody in particular creates nothing', async () => {
    const before = await service.app.db`select count(*) from pay.merchants`
    expect((await service.call('POST /merchants', { json: given })).status).toBe(401)
    expect(await service.app.db`select count(*) from pay.merchants`).toEqual(before)
  })
})

describe('getting', () => {
  test('a merchant of others, an unknown one and what is no id are all 404, byte for byte', async () => {
    const stranger = await createApp(service.call)
    const { id } = await created()
    const headers = { authorization: stranger.authorization, accept: '*/*' }
    const foreign = await service.call(`GET /merchants/${id}`, { headers })
    expect(foreign.status).toBe(404)
    for (const other of ['0123456789abcdef01234567', 'wrong_id', '__proto__', id.toUpperCase(), `${id}0`, `${id}%00`]) {
      const answer = await service.call(`GET /merchants/${other}`, { headers })
      expect([answer.status, answer.text], other).toEqual([404, foreign.text])
    }
    expect((await put(id, {}, { authorization: stranger.authorization })).status).toBe(404)
  })

  test('the balance is the last sum and the lines after it', async () => {
    const { id } = await created()
    const { db, mintId } = service.app
    const at = (seconds: number) => new Date(service.now().getTime() + seconds * 1000)
    for (const [seconds, balance] of [
      [1, 1000],
      [2, -300],
      [3, 25],
      [3, 7],
    ] as const)
      await db`
        insert into pay.lines (merchant_id, id, created, test, kind, balance, fee, amount, currency)
        values (${id}, ${mintId(tagOf(id))}, ${at(seconds)}, true, 'payout', ${balance}, 0, 1, 'EUR')`
    expect(await seen(id)).toMatchObject({ balance: 732 })
    await db`insert into pay.line_sums (merchant_id, through, lines, balance) values (${id}, ${at(1)}, 1, 1000)`
    await db`insert into pay.line_sums (merchant_id, through, lines, balance) values (${id}, ${at(2)}, 2, 700)`
    expect(await seen(id)).toMatchObject({ balance: 732 })
    await db`insert into pay.line_sums (merchant_id, through, lines, balance) values (${id}, ${at(3)}, 4, 732)`
    expect(await seen(id)).toMatchObject({ balance: 732 })
    const list = await service.call(`GET /identities/${owner.id}/merchants?limit=1`, {
      headers: { authorization: owner.authorization },
    })
    expect(list.json<Told[]>()).toEqual([expect.objectContaining({ id, balance: 732 })])
  })
})

describe('changing', () => {
  test('name, email and descriptor change; what is not given stays', async () => {
    const before = await created()
    const first = await put(before.id, { name: 'Other', email: ' other@example.com ' })
    expect(first.status).toBe(200)
    const after = { ...before, name: 'Other', email: 'other@example.com' }
    expect(first.json()).toEqual({ merchant: after })
    expect(await seen(before.id)).toEqual(after)
    expect((await put(before.id, { descriptor: 'New' })).json()).toEqual({ merchant: { ...after, descriptor: 'New' } })
    expect((await put(before.id, {})).json()).toEqual({ merchant: { ...after, descriptor: 'New' } })
    expect((await put(before.id, { name: '', email: null, descriptor: false })).json()).toEqual({
      merchant: { ...after, descriptor: 'New' },
    })
  })

  test.each([
    ['no Accept', {}],
    ['the one of the PHP client', { accept: 'application/vnd.api+json' }],
    ['one that does not want JSON', { accept: 'application/json;q=0, */*' }],
  ])('with %s it is answered with 204 and nothing', async (_, headers) => {
    const { id } = await created()
    const answer = await put(id, { name: 'Other' }, headers as Record<string, string>)
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(answer.headers).not.toHaveProperty('content-type')
    expect(await seen(id)).toMatchObject({ name: 'Other' })
  })

  test('a form does it, too', async () => {
    const { id } = await created()
    const form = { name: 'Form', test: 'yes', 'company[country]': 'DK', 'pricing[rate]': '0.025', 'claim[canVoid]': 'y' }
    const headers = { authorization: owner.authorization, accept: 'application/json' }
    expect((await service.call(`PUT /merchants/${id}`, { form, headers })).json()).toMatchObject({ merchant: { name: 'Form' } })
  })

  test('a merchant may be sent back as it was told, whatever became of its balance', async () => {
    const merchant = await created()
    expect((await put(merchant.id, { ...merchant, balance: 99, name: 'Back' })).json()).toEqual({
      merchant: { ...merchant, name: 'Back' },
    })
    const spelt = { website: ' https://shop.test ', bank: { iban: 'dk50 0040 0440 1162 43' }, company: {}, claim: {}, unknown: 1 }
    expect((await put(merchant.id, spelt)).status).toBe(200)
  })

  test.each([
    ['id', { id: '0123456789abcdef01234567' }],
    ['key', { key: '4f1f3c8e-0000-4000-8000-000000000000' }],
    ['currency', { currency: 'DKK' }],
    ['test', { test: 'no' }],
    ['website', { website: 'https://other.test' }],
    ['created', { created: '2019-06-30T12:08:42.816Z' }],
    ['company.country', { company: { country: 'SE' } }],
    ['company.number', { company: { number: '1' } }],
    ['bank.iban', { bank: { iban: 'NL91ABNA0417164300' } }],
    ['claim.canTransferToCard', { claim: { canTransferToCard: true } }],
    ['pricing.rate', { pricing: { rate: 0 } }],
    ['pricing.flat.amount', { pricing: { flat: { currency: 'EUR', amount: 0 } } }],
    ['pricing.transfer.toCard.rate', { pricing: { transfer: { toCard: { rate: 0 } } } }],
    ['tds.mode', { tds: { mode: 'full' } }],
    ['plans', { plans: 'capture' }],
  ])('%s cannot be changed, and nothing else is then', async (field, json) => {
    const before = await created()
    const answer = await put(before.id, { ...json, name: 'Other' })
    expect([answer.status, answer.json()]).toEqual([400, [{ field, message: 'Cannot be changed' }]])
    expect(await seen(before.id)).toEqual(before)
  })

  test('a bank account cannot be added later, and all that cannot be is named at once', async () => {
    const { id } = await created({ ...given, bank: {}, company: { country: 'DK' } })
    const answer = await put(id, { bank: { iban: 'DK5000400440116243' }, company: { number: '7' }, currency: 'USD' })
    expect(
      answer
        .json<{ field: string }[]>()
        .map(({ field }) => field)
        .toSorted(),
    ).toEqual(['bank.iban', 'company.number', 'currency'])
  })

  test.each([
    ['email', { email: 'nobody' }, 'Must be a valid email'],
    ['descriptor', { descriptor: 'é' }, 'Invalid descriptor (see https://github.com/paylike/descriptor)'],
    ['name', { name: 'x'.repeat(201) }, 'Must be at most 200 characters long'],
    ['test', { test: 'perhaps' }, 'Must be true or false'],
    ['company', { company: 'DK' }, 'Must be an object'],
  ])('a wrong %s is refused', async (field, json, message) => {
    const before = await created()
    expect((await put(before.id, json)).json()).toEqual([{ field, message }])
    expect(await seen(before.id)).toEqual(before)
  })

  test('the colour of its page changes, stays, and goes back to that of the house', async () => {
    const before = await created()
    expect((await put(before.id, { accent: ' #0B6E4F ' })).json()).toEqual({ merchant: { ...before, accent: '#0b6e4f' } })
    expect((await put(before.id, { name: 'Other', accent: '' })).json()).toMatchObject({ merchant: { accent: '#0b6e4f' } })
    const told = await seen(before.id)
    expect((await put(before.id, told)).json()).toEqual({ merchant: told })
    expect((await put(before.id, { accent: null })).json()).toMatchObject({ merchant: { name: 'Other', accent: null } })
    expect(await seen(before.id)).toMatchObject({ accent: null })
  })

  test.each(['green', '#0b6e4', '#0b6e4f00', '0b6e4f', '#0b6e4g', 'url(x)'])('%j is no colour', async (accent) => {
    const { id } = await created()
    const answer = await put(id, { accent })
    expect([answer.status, answer.json()]).toEqual([400, [{ field: 'accent', message: 'Must be a colour such as #0b6e4f' }]])
  })

  test('two who change different things at once both have their way', async () => {
    const { id } = await created()
    await Promise.all([put(id, { name: 'Two' }), put(id, { email: 'two@example.com' }), put(id, { descriptor: 'Two' })])
    expect(await seen(id)).toMatchObject({ name: 'Two', email: 'two@example.com', descriptor: 'Two' })
  })
})
