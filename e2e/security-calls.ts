import { randomUUID } from 'node:crypto'
import { adminAuthorization, createAccount, signIn, type startWithInbox } from '@tollgate/identity/testing'
import { createApp, type plantMerchant, plantTransaction, type startPayments } from '@tollgate/payments/testing'
import { jsClient, overHttp, type Wire } from './device-client.ts'

type Fields = Record<string, unknown>

/** A request that succeeds as it is, for attacks to be put in. */
export type Sound = { params?: Record<string, string>; query?: Fields; body?: Fields; headers?: Record<string, string> }

/** By `POST /signup`: every endpoint that takes anything or asks who is calling, in one or several ways. */
export type SoundCalls = Record<string, readonly (() => Sound | Promise<Sound>)[]>

export function soundIdentityCalls(service: Awaited<ReturnType<typeof startWithInbox>>): SoundCalls {
  let number = 0
  const newcomer = () => `newcomer-${++number}@site.test`
  const admin = { authorization: adminAuthorization(service) }
  const account = async () => {
    const made = await createAccount(service)
    return { ...made, email: `${made.userId}@site.test`, headers: { authorization: made.authorization } }
  }
  /** What a mail would carry. */
  const linkFor = async (email: string) =>
    (await service.call('POST /admin/generate_link', { headers: admin, json: { type: 'recovery', email } })).json<{
      email_otp: string
      hashed_token: string
    }>()
  const away = async () => {
    const { headers } = await service.call('GET /authorize?provider=github')
    return new URL(String(headers.location)).searchParams.get('state') ?? ''
  }
  const returning = async () => ({ state: await away(), code: 'their code', iss: 'https://github.com', error_description: 'x' })

  return {
    'POST /signup': [() => ({ body: { email: newcomer(), password: 'correct horse', data: { name: 'Ann' } } })],
    'POST /token': [
      async () => ({ query: { grant_type: 'refresh_token' }, body: { refresh_token: (await account()).refreshToken } }),
      () => ({ query: { grant_type: 'pkce' }, body: { auth_code: randomUUID(), code_verifier: 'a'.repeat(43) } }),
      () => ({ query: { grant_type: 'id_token' }, body: { id_token: 'a.b.c', provider: 'google', nonce: 'n', client_id: 'c' } }),
      () => ({ query: { grant_type: 'password' }, body: { email: 'nobody@site.test', password: 'correct horse' } }),
    ],
    'GET /authorize': [() => ({ query: { provider: 'github', redirect_to: 'https://site.test/in' } })],
    'GET /callback': [async () => ({ query: await returning() })],
    'POST /callback': [async () => ({ body: await returning() })],
    'POST /verify': [
      async () => {
        const { email } = await account()
        return { body: { type: 'recovery', email, token: (await linkFor(email)).email_otp } }
      },
      async () => ({ body: { type: 'recovery', token_hash: (await linkFor((await account()).email)).hashed_token } }),
    ],
    'GET /verify': [
      async () => ({ query: { type: 'recovery', token: (await linkFor((await account()).email)).hashed_token, confirm: 'yes' } }),
    ],
    'POST /otp': [() => ({ body: { email: newcomer(), create_user: true, data: { name: 'Ann' } } })],
    'POST /magiclink': [async () => ({ body: { email: (await account()).email } })],
    'POST /recover': [async () => ({ body: { email: (await account()).email } })],
    'POST /resend': [
      async () => {
        const email = newcomer()
        await service.call('POST /otp', { json: { email, create_user: true } })
        return { body: { type: 'signup', email } }
      },
    ],
    'POST /invite': [() => ({ headers: admin, body: { email: newcomer(), data: { name: 'Ann' } } })],
    'POST /admin/generate_link': [async () => ({ headers: admin, body: { type: 'recovery', email: (await account()).email } })],
    'GET /user': [async () => ({ headers: (await account()).headers })],
    'PUT /user': [async () => ({ headers: (await account()).headers, body: { data: { name: 'Ann' } } })],
    'GET /reauthenticate': [async () => ({ headers: (await account()).headers })],
    'GET /user/identities': [async () => ({ headers: (await account()).headers })],
    'GET /user/identities/authorize': [async () => ({ headers: (await account()).headers, query: { provider: 'github' } })],
    'DELETE /user/identities/{identity_id}': [
      async () => {
        const id = randomUUID()
        const email = `${id}@site.test`
        const { authorization } = await createAccount(service, {
          ...{ id, phone: String(4_540_000_000 + ++number), phoneConfirmedAt: service.now() },
          identities: [
            { provider: 'email', data: { sub: id, email } },
            { provider: 'phone', data: { sub: id } },
          ],
        })
        const headers = { authorization }
        const { identities } = (await service.call('GET /user/identities', { headers })).json<{
          identities: { identity_id: string; provider: string }[]
        }>()
        const phone = identities.find(({ provider }) => provider === 'phone')
        return { headers, params: { identity_id: phone?.identity_id ?? '' } }
      },
    ],
    'GET /user/sessions': [async () => ({ headers: (await account()).headers })],
    'DELETE /user/sessions/{session_id}': [
      async () => {
        const { headers, userId } = await account()
        return { headers, params: { session_id: (await signIn(service, userId)).sessionId } }
      },
    ],
    'POST /logout': [async () => ({ headers: (await account()).headers, query: { scope: 'local' } })],
    'GET /admin/users': [() => ({ headers: admin, query: { page: '1', per_page: '5' } })],
    'POST /admin/users': [() => ({ headers: admin, body: { email: newcomer(), user_metadata: { name: 'Ann' } } })],
    'GET /admin/users/{user_id}': [async () => ({ headers: admin, params: { user_id: (await account()).userId } })],
    'POST /admin/users/{user_id}': [() => ({ headers: admin, params: { user_id: randomUUID() }, body: { email: newcomer() } })],
    'PUT /admin/users/{user_id}': [
      async () => ({ headers: admin, params: { user_id: (await account()).userId }, body: { user_metadata: { name: 'Ann' } } }),
    ],
    'DELETE /admin/users/{user_id}': [
      async () => ({ headers: admin, params: { user_id: (await account()).userId }, body: { should_soft_delete: true } }),
    ],
    'GET /admin/users/{user_id}/sessions': [async () => ({ headers: admin, params: { user_id: (await account()).userId } })],
    'DELETE /admin/users/{user_id}/sessions': [async () => ({ headers: admin, params: { user_id: (await account()).userId } })],
    'DELETE /admin/users/{user_id}/sessions/{session_id}': [
      async () => {
        const { userId, sessionId } = await account()
        return { headers: admin, params: { user_id: userId, session_id: sessionId } }
      },
    ],
    'GET /admin/audit': [() => ({ headers: admin, query: { page: '1', per_page: '5' } })],
  }
}

type Shop = Awaited<ReturnType<typeof plantMerchant>>

export function soundPaymentsCalls(service: Awaited<ReturnType<typeof startPayments>>, shop: Shop): SoundCalls {
  const { call, origin } = service
  const headers = { authorization: shop.authorization }
  const device = { 'accept-version': '1' }
  const own = { merchant_id: shop.id }
  const card = { number: '4100000000000000', code: '123', expiry: { month: 12, year: 2060 } }
  const page = { limit: '5' }

  /** Pages of the bank have the address that payers know; here they are asked where they are. */
  const wire: Wire = (url, ...rest) => overHttp(url.replace(/^https?:\/\/[^/]+/, origin), ...rest)
  const { tokenize, request, takeStep, pay } = jsClient({ origin, wire })

  const post = async <T>(path: string, json: Fields): Promise<T> => {
    const { status, text } = await call(`POST ${path}`, { headers, json })
    if (status !== 201) throw new Error(`The stage cannot be set: ${path} was answered ${status} ${text}`)
    return JSON.parse(text || '{}')
  }
  const bought = (amount = 1_000_000) => plantTransaction(service, { merchantId: shop.id, amount })
  const captured = async () => {
    const id = await bought()
    const { transaction } = await post<{ transaction: { trail: { lineId: string }[] } }>(`/transactions/${id}/captures`, {
      amount: 500_000,
    })
    return { id, lineId: transaction.trail[0]?.lineId ?? '' }
  }
  const disputed = async () => {
    const json = { transactionId: (await captured()).id, amount: 100 }
    return (await post<{ dispute: { id: string } }>(`/merchants/${shop.id}/simulator/disputes`, json)).dispute.id
  }
  const order = async (more: Fields = {}) => {
    return {
      integration: { key: shop.key },
      test: {},
      amount: { currency: 'EUR', exponent: 2, value: 1250 },
      card: { number: await tokenize('pcn', card.number), code: await tokenize('pcsc', card.code), expiry: card.expiry },
      text: 'Two cups of tea',
      custom: { order: 7 },
      ...more,
    }
  }
  /** The question that a page of the bank is opened with. */
  const asked = async (name: string) => {
    const body = await order()
    const hints: string[] = []
    for (;;) {
      const { challenges = [] } = await request('/payments', { ...body, hints })
      const wanted = challenges.find((each) => each.name === name)
      if (wanted) return (await request(wanted.path, { ...body, hints })).fields ?? {}
      const [next] = challenges
      if (!next) throw new Error(`Nobody is asked for ${name}`)
      hints.push(...(await takeStep(body, hints, next)).gained)
    }
  }
  const planned = async () => {
    const plan = [{ amount: { currency: 'EUR', exponent: 2, value: 995 }, repeat: { interval: { unit: 'day' } } }]
    const { authorizationId } = await pay(await order({ plan }))
    return authorizationId
  }

  return {
    'POST /apps': [() => ({ body: { name: 'Shop' } })],
    'GET /me': [() => ({ headers })],
    'POST /merchants': [
      () => ({
        headers,
        body: {
          ...{
            name: 'Shop',
            currency: 'EUR',
            test: true,
            email: 'shop@example.com',
            website: 'https://shop.test',
            descriptor: 'Shop',
          },
          ...{ company: { country: 'DK', number: '12' }, bank: { iban: 'DK5000400440116243' } },
        },
      }),
    ],
    'GET /merchants/{merchant_id}': [() => ({ headers, params: own })],
    'PUT /merchants/{merchant_id}': [
      () => ({ headers, params: own, body: { name: 'Shop', email: 'shop@example.com', descriptor: 'Shop', accent: '#0b6e4f' } }),
    ],
    'GET /identities/{app_id}/merchants': [() => ({ headers, params: { app_id: shop.app.id }, query: page })],
    'GET /merchants/{merchant_id}/apps': [() => ({ headers, params: own, query: page })],
    'POST /merchants/{merchant_id}/apps': [async () => ({ headers, params: own, body: { appId: (await createApp(call)).id } })],
    'DELETE /merchants/{merchant_id}/apps/{app_id}': [
      async () => {
        const { id } = await createApp(call)
        await post(`/merchants/${shop.id}/apps`, { appId: id })
        return { headers, params: { ...own, app_id: id } }
      },
    ],
    'GET /merchants/{merchant_id}/users': [() => ({ headers, params: own, query: page })],
    'POST /merchants/{merchant_id}/users': [() => ({ headers, params: own, body: { email: `${randomUUID()}@site.test` } })],
    'DELETE /merchants/{merchant_id}/users/{user_id}': [
      async () => {
        await post(`/merchants/${shop.id}/users`, { email: `${randomUUID()}@site.test` })
        const users = (await call(`GET /merchants/${shop.id}/users?limit=1`, { headers })).json<{ id: string }[]>()
        return { headers, params: { ...own, user_id: users[0]?.id ?? '' } }
      },
    ],
    'POST /merchants/{merchant_id}/transactions': [
      async () => ({
        ...{ headers, params: own },
        body: { transactionId: await bought(), currency: 'EUR', amount: 1, descriptor: 'Shop', custom: { order: 7 } },
      }),
    ],
    'GET /merchants/{merchant_id}/transactions': [() => ({ headers, params: own, query: page })],
    'GET /transactions/{transaction_id}': [async () => ({ headers, params: { transaction_id: await bought() } })],
    'POST /transactions/{transaction_id}/captures': [
      async () => ({
        headers,
        params: { transaction_id: await bought() },
        body: { amount: 1, currency: 'EUR', descriptor: 'Shop' },
      }),
    ],
    'POST /transactions/{transaction_id}/refunds': [
      async () => ({ headers, params: { transaction_id: (await captured()).id }, body: { amount: 1, descriptor: 'Shop' } }),
    ],
    'POST /transactions/{transaction_id}/voids': [
      async () => ({ headers, params: { transaction_id: await bought() }, body: { amount: 1 } }),
    ],
    'GET /merchants/{merchant_id}/plans': [() => ({ headers, params: own, query: page })],
    'DELETE /merchants/{merchant_id}/plans/{transaction_id}': [
      async () => ({ headers, params: { ...own, transaction_id: await planned() } }),
    ],
    'GET /idempotency/{key}': [
      async () => {
        const key = randomUUID()
        const path = `POST /transactions/${await bought()}/captures`
        await call(path, { headers: { ...headers, 'idempotency-key': key }, json: { amount: 1 } })
        return { headers, params: { key } }
      },
    ],
    'GET /merchants/{merchant_id}/lines': [() => ({ headers, params: own, query: page })],
    'GET /lines/{line_id}': [async () => ({ headers, params: { line_id: (await captured()).lineId } })],
    'GET /merchants/{merchant_id}/balance': [() => ({ headers, params: own, query: { at: '2029-12-31T00:00:00Z' } })],
    'GET /merchants/{merchant_id}/payouts': [() => ({ headers, params: own, query: page })],
    'POST /merchants/{merchant_id}/links': [
      () => ({
        ...{ headers, params: own },
        body: { value: '12.50', currency: 'EUR', reference: '7', text: 'Tea', redirect: 'https://shop.test/', locale: 'da' },
      }),
    ],
    'POST /merchants/{merchant_id}/cards': [
      async () => ({ headers, params: own, body: { transactionId: await bought(), notes: 'kept' } }),
    ],
    'GET /cards/{card_id}': [
      async () => {
        const { card } = await post<{ card: { id: string } }>(`/merchants/${shop.id}/cards`, { transactionId: await bought() })
        return { headers, params: { card_id: card.id } }
      },
    ],
    'GET /disputes': [() => ({ headers, query: { ...page, 'filter[merchantId]': shop.id } })],
    'GET /disputes/{dispute_id}': [async () => ({ headers, params: { dispute_id: await disputed() } })],
    'GET /frauds': [() => ({ headers, query: { ...page, 'filter[merchantId]': shop.id } })],
    'GET /frauds/{fraud_id}': [
      async () => {
        const json = { transactionId: (await captured()).id }
        const { fraud } = await post<{ fraud: { id: string } }>(`/merchants/${shop.id}/simulator/frauds`, json)
        return { headers, params: { fraud_id: fraud.id } }
      },
    ],
    'POST /vault': [() => ({ headers: device, body: { type: 'pcn', value: card.number } })],
    'POST /payments': [
      async () => {
        const body = await order()
        const { hints } = await pay(body)
        return { headers: device, body: { ...body, hints } }
      },
      async () => ({ headers: device, body: await order() }),
    ],
    'POST /payments/challenges/{challenge}': [
      async () => ({ headers: device, params: { challenge: 'authorize-integration' }, body: { ...(await order()), hints: [] } }),
    ],
    'POST /payments/fingerprint': [async () => ({ body: await asked('fingerprint') })],
    'POST /3dsecure/v2/method': [async () => ({ body: await asked('tds-fingerprint') })],
    'POST /3dsecure/v2/challenge': [async () => ({ body: await asked('tds-challenge') })],
    'POST /applepay/token': [() => ({ headers: device, body: { token: '{}' } })],
    'POST /applepay/approve-payment-session': [
      () => ({ headers: { 'accept-version': '2' }, body: { configurationId: 'c', text: 'Shop' } }),
    ],
    'POST /googlepay/token': [() => ({ headers: device, body: { token: '{}' } })],
    'GET /pos': [
      () => ({
        query: {
          ...{
            key: shop.key,
            test: '1',
            currency: 'EUR',
            value: '1',
            amount: '100',
            reference: '7',
            text: 'Tea',
            recurring: 'y',
          },
          ...{ redirect: 'https://shop.test/', locale: 'da' },
        },
      }),
    ],
    'GET /pos/popup': [() => ({ query: { key: shop.key, locale: 'da' } })],
    'GET /pos/assets/{file}': [
      async () => {
        const { text } = await call(`GET /pos?key=${shop.key}&test=1`)
        return { params: { file: /\/pos\/assets\/([\w.-]+)/.exec(text)?.[1] ?? '' } }
      },
    ],
    'POST /transactions': [
      () => ({ body: { key: shop.key, currency: 'EUR', amount: 100, card, descriptor: 'Shop', custom: { order: 7 } } }),
    ],
    'POST /cards': [() => ({ body: { key: shop.key, ...card } })],
    'POST /merchants/{merchant_id}/simulator/payments': [
      () => ({ headers, params: own, body: { amount: 100, currency: 'EUR', card, descriptor: 'Shop', custom: { order: 7 } } }),
    ],
    'POST /merchants/{merchant_id}/simulator/disputes': [
      async () => ({ headers, params: own, body: { transactionId: (await captured()).id, amount: 1 } }),
    ],
    'POST /merchants/{merchant_id}/simulator/disputes/{dispute_id}/decisions': [
      async () => ({ headers, params: { ...own, dispute_id: await disputed() }, body: { won: true } }),
    ],
    'POST /merchants/{merchant_id}/simulator/frauds': [
      async () => ({ headers, params: own, body: { transactionId: (await captured()).id } }),
    ],
  }
}

/** The request as `call` takes it. */
export function asCall(endpoint: string, { params = {}, query = {}, body, headers = {} }: Sound): [string, object] {
  const [method, path = ''] = endpoint.split(' ')
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const asked = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, textOf(value)])).toString()
  return [`${method} ${filled}${asked === '' ? '' : `?${asked}`}`, { headers, ...(body === undefined ? {} : { json: body }) }]
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
