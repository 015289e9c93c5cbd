import { inspect } from 'node:util'
import { createFetch } from '@tollgate/kit/fetch'
import { type FakeAnswer, startHttpFake } from '@tollgate/kit/http-fake'
import { Secret } from '@tollgate/kit/secret'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { type GatewayName, gateways } from './all.ts'
import type { Message } from './gateway.ts'
import { gatewayNamed, type ReadyGateway, sendSms } from './send-sms.ts'
import { SmsTrouble } from './trouble.ts'

const fetch = createFetch({ allowPrivate: true, timeout: 0.3, userAgent: 'tollgate/test' })
afterAll(() => fetch.close())

const values: Record<GatewayName, Record<string, string>> = {
  twilio: { ACCOUNT_SID: 'AC77', AUTH_TOKEN: 'tok-secret', MESSAGE_SERVICE_SID: 'MG55' },
  messagebird: { ACCESS_KEY: 'key-secret', ORIGINATOR: 'Shop' },
  textlocal: { API_KEY: 'key-secret', SENDER: 'SHOPIN' },
  vonage: { API_KEY: 'k-77', API_SECRET: 'sec-secret', FROM: 'Shop' },
  console: {},
}

const message = { to: '15550100123', text: 'Your code is 424242' }

function ready(name: GatewayName, base?: string, more: Record<string, string> = {}): ReadyGateway {
  const entries = Object.entries({ ...values[name], ...more }).map(([key, value]) => [key, new Secret(value)])
  return { gateway: gatewayNamed(name), credentials: Object.fromEntries(entries), base }
}

async function send(name: GatewayName, answer: FakeAnswer, sent: Message = message, more: Record<string, string> = {}) {
  const fake = await startHttpFake(() => answer)
  onTestFinished(() => fake.close())
  const result = await sendSms(ready(name, fake.origin, more), fetch, sent).catch((problem: unknown) => problem)
  const [request] = fake.requests
  return { result, trouble: result as SmsTrouble, request, form: Object.fromEntries(new URLSearchParams(request?.body)) }
}

const accepted = {
  twilio: { sid: 'SM1', status: 'queued' },
  messagebird: { id: 'mb1', recipients: { totalCount: 1, totalSentCount: 1 } },
  textlocal: { status: 'success', messages: [{ id: '9001', recipient: 15550100123 }], batch_id: 12 },
  vonage: { 'message-count': '1', messages: [{ to: '15550100123', 'message-id': '0C00', status: '0' }] },
  console: { id: 'sms-1' },
} satisfies Record<GatewayName, object>
const names = Object.keys(accepted) as GatewayName[]

describe('what goes over the wire', () => {
  test('twilio', async () => {
    const { result, request, form } = await send('twilio', { status: 201, json: accepted.twilio })
    expect(result).toEqual({ id: 'SM1' })
    expect([request?.method, request?.path]).toEqual(['POST', '/2010-04-01/Accounts/AC77/Messages.json'])
    expect(request?.headers).toMatchObject({
      authorization: `Basic ${btoa('AC77:tok-secret')}`,
      'content-type': 'application/x-www-form-urlencoded',
    })
    expect(form).toEqual({ To: '+15550100123', Channel: 'sms', From: 'MG55', Body: 'Your code is 424242' })
  })

  test('twilio by WhatsApp, from a service and from a number, in own words and by template', async () => {
    const sent = { ...message, channel: 'whatsapp', code: '424242' } as const
    const service = await send('twilio', { status: 201, json: accepted.twilio }, sent)
    expect(service.form).toEqual({ To: 'whatsapp:+15550100123', Channel: 'whatsapp', From: 'MG55', Body: message.text })
    const more = { MESSAGE_SERVICE_SID: '+15550199', CONTENT_SID: 'HX1' }
    const number = await send('twilio', { status: 201, json: accepted.twilio }, sent, more)
    expect(number.form).toMatchObject({ From: 'whatsapp:+15550199', ContentSid: 'HX1', ContentVariables: '{"1":"424242"}' })
    const sms = await send('twilio', { status: 201, json: accepted.twilio }, message, more)
    expect(sms.form).toEqual({ To: '+15550100123', Channel: 'sms', From: '+15550199', Body: message.text })
  })

  test('messagebird', async () => {
    const { result, request, form } = await send('messagebird', { status: 201, json: accepted.messagebird })
    expect(result).toEqual({ id: 'mb1' })
    expect([request?.method, request?.path, request?.headers.authorization]).toEqual([
      'POST',
      '/messages',
      'AccessKey key-secret',
    ])
    expect(form).toEqual({
      originator: 'Shop',
      body: 'Your code is 424242',
      recipients: '15550100123',
      type: 'sms',
      datacoding: 'unicode',
    })
  })

  test('textlocal', async () => {
    const { result, request, form } = await send('textlocal', { json: accepted.textlocal })
    expect(result).toEqual({ id: '9001' })
    expect([request?.method, request?.path]).toEqual(['POST', '/send'])
    expect(form).toEqual({ sender: 'SHOPIN', apikey: 'key-secret', message: 'Your code is 424242', numbers: '15550100123' })
  })

  test('textlocal gives no id, or a number', async () => {
    expect((await send('textlocal', { json: { status: 'success' } })).result).toEqual({ id: '' })
    expect((await send('textlocal', { json: { status: 'success', batch_id: 12 } })).result).toEqual({ id: '12' })
  })

  test('vonage', async () => {
    const { result, request, form } = await send('vonage', { json: accepted.vonage })
    expect(result).toEqual({ id: '0C00' })
    expect([request?.method, request?.path]).toEqual(['POST', '/sms/json'])
    expect(form).toEqual({ from: 'Shop', to: '15550100123', text: message.text, api_key: 'k-77', api_secret: 'sec-secret' })
  })

  test('vonage is told when a text is more than ASCII', async () => {
    const { form } = await send('vonage', { json: accepted.vonage }, { ...message, text: 'Dein Schlüssel: 424242 🔑' })
    expect(form).toMatchObject({ type: 'unicode', text: 'Dein Schlüssel: 424242 🔑' })
  })

  test('console', async () => {
    const { result, request, form } = await send('console', { json: accepted.console })
    expect(result).toEqual({ id: 'sms-1' })
    expect([request?.method, request?.path]).toEqual(['POST', '/sms'])
    expect(request?.headers['content-type']).toBe('application/x-www-form-urlencoded')
    expect(form).toEqual({ to: '15550100123', text: 'Your code is 424242' })
  })

  test.each(names)('%s gets letters that forms treat specially as they are', async (name) => {
    const text = 'a+b&c=d %41 ü\n"x" 1234'
    const { form } = await send(name, { json: accepted[name] }, { ...message, text })
    expect(Object.values(form)).toContain(text)
  })

  test('what gateways may be told besides their credentials', () => {
    expect(gateways.filter(({ options }) => Object.keys(options).length > 0).map(({ name, options }) => [name, options])).toEqual(
      [['twilio', { CONTENT_SID: 'The template of WhatsApp messages' }]],
    )
  })

  test('the public addresses', () => {
    expect(gateways.map(({ name, wire }) => [name, wire.base])).toEqual([
      ['twilio', 'https://api.twilio.com'],
      ['messagebird', 'https://rest.messagebird.com'],
      ['textlocal', 'https://api.textlocal.in'],
      ['vonage', 'https://rest.nexmo.com'],
      ['console', 'http://127.0.0.1:8080'],
    ])
  })
})

describe('refusals', () => {
  const noMoney = { errors: [{ code: 25, description: 'Not enough balance', parameter: null }] }
  test.each<[GatewayName, FakeAnswer, { temporary: boolean; code: string | undefined; message: string }]>([
    [
      'twilio',
      { status: 400, json: { code: 21211, message: "Invalid 'To' Phone Number", more_info: 'https://…', status: 400 } },
      { temporary: false, code: '21211', message: "twilio: answered 400 with code 21211 (Invalid 'To' Phone Number)" },
    ],
    [
      'twilio',
      { status: 401, json: { code: 20003, message: 'Authenticate', status: 401 } },
      { temporary: false, code: '20003', message: 'twilio: answered 401 with code 20003 (Authenticate)' },
    ],
    [
      'twilio',
      { status: 429, json: { code: 20429, message: 'Too Many Requests', status: 429 } },
      { temporary: true, code: '20429', message: 'twilio: answered 429 with code 20429 (Too Many Requests)' },
    ],
    [
      'twilio',
      { status: 201, json: { sid: 'SM1', status: 'failed', error_code: 30008, error_message: 'Unknown error' } },
      { temporary: false, code: '30008', message: 'twilio: answered 201 with code 30008 (Unknown error)' },
    ],
    [
      'twilio',
      { status: 200, json: { sid: 'SM1', status: 'undelivered', error_code: null } },
      { temporary: false, code: undefined, message: 'twilio: answered 200' },
    ],
    [
      'messagebird',
      { status: 422, json: noMoney },
      { temporary: false, code: '25', message: 'messagebird: answered 422 with code 25 (Not enough balance)' },
    ],
    [
      'messagebird',
      { status: 200, json: { id: 'mb1', recipients: { totalSentCount: 0 } } },
      { temporary: false, code: undefined, message: 'messagebird: answered 200' },
    ],
    [
      'textlocal',
      { status: 200, json: { errors: [{ code: 3, message: 'Invalid login details' }], status: 'failure' } },
      { temporary: false, code: '3', message: 'textlocal: answered 200 with code 3 (Invalid login details)' },
    ],
    [
      'vonage',
      { status: 200, json: { messages: [{ status: '4', 'error-text': 'Bad Credentials' }] } },
      { temporary: false, code: '4', message: 'vonage: answered 200 with code 4 (Bad Credentials)' },
    ],
    [
      'vonage',
      { status: 200, json: { messages: [{ status: '1', 'error-text': 'Throughput Rate Exceeded' }] } },
      { temporary: true, code: '1', message: 'vonage: answered 200 with code 1 (Throughput Rate Exceeded)' },
    ],
    [
      'console',
      { status: 422, json: { code: 'full', message: 'The inbox is full' } },
      { temporary: false, code: 'full', message: 'console: answered 422 with code full (The inbox is full)' },
    ],
  ])('%s: %j', async (name, answer, expected) => {
    const { trouble } = await send(name, answer)
    expect(trouble).toBeInstanceOf(SmsTrouble)
    expect(trouble).toMatchObject({ gateway: name, maybeSent: false, ...expected })
  })

  const odd: [FakeAnswer, { temporary: boolean; maybeSent: boolean }][] = [
    ['hang', { temporary: true, maybeSent: true }],
    ['cut', { temporary: true, maybeSent: true }],
    ['cut in the middle', { temporary: true, maybeSent: true }],
    ['garbage', { temporary: true, maybeSent: true }],
    [{ text: 'x'.repeat(2_000_000) }, { temporary: true, maybeSent: true }],
    [
      { status: 200, text: '' },
      { temporary: true, maybeSent: true },
    ],
    [
      { status: 200, text: '<html>Welcome to the hotel</html>' },
      { temporary: true, maybeSent: true },
    ],
    [
      { status: 200, json: null },
      { temporary: true, maybeSent: true },
    ],
    [
      { status: 200, json: [] },
      { temporary: true, maybeSent: true },
    ],
    [
      { status: 200, json: 'ok' },
      { temporary: true, maybeSent: true },
    ],
    [
      { status: 200, json: {} },
      { temporary: false, maybeSent: false },
    ],
    [
      { status: 200, json: { messages: 5, errors: 5, recipients: 5, sid: 5 } },
      { temporary: false, maybeSent: false },
    ],
    [
      { status: 200, json: { messages: [null], errors: [null], recipients: null } },
      { temporary: false, maybeSent: false },
    ],
    [
      { status: 302, headers: { location: 'http://127.0.0.1/' } },
      { temporary: false, maybeSent: false },
    ],
    [
      { status: 404, text: 'no' },
      { temporary: false, maybeSent: false },
    ],
    [
      { status: 408, text: 'slow' },
      { temporary: true, maybeSent: false },
    ],
    [
      { status: 429, text: 'Too many' },
      { temporary: true, maybeSent: false },
    ],
    [
      { status: 500, text: 'oops' },
      { temporary: true, maybeSent: true },
    ],
    [
      { status: 503, json: null },
      { temporary: true, maybeSent: true },
    ],
  ]
  for (const name of names)
    test.each(odd.map(([answer, expected], number) => ({ number, answer, expected })))(
      `${name}: odd answer $number is a trouble like any other`,
      async ({ answer, expected }) => {
        const { trouble } = await send(name, answer)
        expect(trouble).toBeInstanceOf(SmsTrouble)
        expect(trouble).toMatchObject(expected)
      },
    )

  test.each(names)('%s: an acceptance under a bad status is none', async (name) => {
    expect((await send(name, { status: 500, json: accepted[name] })).trouble).toMatchObject({ temporary: true })
  })

  test.each(names)('%s: nobody at the address, and nothing was sent', async (name) => {
    const fake = await startHttpFake({})
    await fake.close()
    const trouble = await sendSms(ready(name, fake.origin), fetch, message).catch((problem: unknown) => problem)
    expect(trouble).toMatchObject({ temporary: true, maybeSent: false, message: `${name}: could not be reached (ECONNREFUSED)` })
  })

  test.each(names)('%s: an address inside of the network is not worth a second try', async (name) => {
    const guarded = createFetch({ allowPrivate: false, timeout: 1, userAgent: 'x' })
    onTestFinished(() => guarded.close())
    const trouble = await sendSms(ready(name, 'http://127.0.0.1:1'), guarded, message).catch((problem: unknown) => problem)
    expect(trouble).toMatchObject({ temporary: false, maybeSent: false })
  })

  test.each(names)('%s: a gateway that repeats credentials, the text or the code is not quoted', async (name) => {
    const echoes = [...Object.values(values[name]), message.text, 'we got 424242']
    for (const echo of echoes) {
      const errors = [{ code: 7, message: `no: ${echo}`, description: `no: ${echo}` }]
      const json = { code: 7, message: `no: ${echo}`, errors, messages: [{ status: '7', 'error-text': `no: ${echo}` }] }
      const { trouble } = await send(name, { status: 400, json })
      expect(trouble.message).toBe(`${name}: answered 400 with code 7`)
      expect(inspect(trouble, { depth: 9, showHidden: true })).not.toContain(echo)
    }
  })

  test('a long and strange reason is cut and cleaned, a strange code left out', async () => {
    const { trouble } = await send('twilio', { status: 400, json: { code: 'a b\n', message: `x\u0000\n${'y'.repeat(999)}` } })
    expect(trouble.message).toBe(`twilio: answered 400 (x ${'y'.repeat(198)})`)
    expect(trouble.code).toBeUndefined()
  })
})
