import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSmsBox } from './sms.ts'
import { type Visit, visitWelcome } from './testing.ts'

let here: Visit
beforeEach(async () => {
  here = await visitWelcome()
})
afterEach(() => here.close())

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const post = (body: string | Buffer, headers: Record<string, string> = form) =>
  here.ask('/sms', { method: 'POST', headers, body })
const inbox = async () => JSON.parse((await here.ask('/inbox.json')).body).messages

test('an SMS that is posted stands in the inbox, with its code and its links', async () => {
  const { status, headers, body } = await post('to=4520304050&text=Your+code+is+123456.+See+https%3A%2F%2Fexample.com%2Fhelp.')
  expect(status).toBe(200)
  expect(headers['content-type']).toBe('application/json')
  expect(JSON.parse(body)).toEqual({ id: 'sms-1' })
  const [sms] = await inbox()
  expect(sms).toEqual({
    kind: 'sms',
    id: 'sms-1',
    url: '/inbox/sms-1',
    receivedAt: expect.any(String),
    to: ['+4520304050'],
    text: 'Your code is 123456. See https://example.com/help.',
    links: ['https://example.com/help'],
    code: '123456',
  })
})

test('the kind of the content may name its character set', async () => {
  const { status } = await post('to=45&text=Gr%C3%BC%C3%9Fe', {
    'content-type': 'Application/X-WWW-Form-Urlencoded; charset=UTF-8',
  })
  expect(status).toBe(200)
  expect((await inbox())[0].text).toBe('Grüße')
})

test.each([
  ['no number', 'text=Hi', '"to"'],
  ['a number with a plus', 'to=%2B4520304050&text=Hi', '"to"'],
  ['a number that is none', 'to=ann&text=Hi', '"to"'],
  ['a number of sixteen digits', 'to=1234567890123456&text=Hi', '"to"'],
  ['several numbers', 'to[]=45&to[]=46&text=Hi', '"to"'],
  ['no text', 'to=4520304050', '"text"'],
  ['an empty text', 'to=4520304050&text=+%0A', '"text"'],
  ['a text in parts', 'to=4520304050&text[a]=Hi', '"text"'],
  ['nothing', '', '"to"'],
  ['a broken escape', 'to=4520304050&text=%E0%A4%A', 'UTF-8'],
  ['bytes that are no text', Buffer.from([0x74, 0x6f, 0x3d, 0xff]), 'UTF-8'],
  ['a NUL', 'to=4520304050&text=a%00b', 'NUL'],
])('%s is refused with a sentence', async (_, body, named) => {
  const answer = await post(body)
  expect(answer).toMatchObject({ status: 400, headers: { 'content-type': 'application/json' } })
  expect(JSON.parse(answer.body).message).toContain(named)
  expect(await inbox()).toEqual([])
})

test.each([
  ['JSON', { 'content-type': 'application/json' }],
  ['plain text', { 'content-type': 'text/plain' }],
  ['a form in parts', { 'content-type': 'multipart/form-data; boundary=x' }],
  ['content of no kind', {}],
])('%s is no form', async (_, headers: Record<string, string>) => {
  const answer = await post('to=4520304050&text=Hi', headers)
  expect(answer.status).toBe(415)
  expect(JSON.parse(answer.body).message).toContain('application/x-www-form-urlencoded')
  expect(await inbox()).toEqual([])
})

test('4096 bytes are taken, one more is not, whether it is announced or not', async () => {
  const fitting = `to=4520304050&text=${'a'.repeat(4096 - 19)}`
  expect(Buffer.byteLength(fitting)).toBe(4096)
  expect((await post(fitting)).status).toBe(200)
  expect((await post(`${fitting}a`)).status).toBe(413)
  expect((await post(`${fitting}a`, { ...form, 'transfer-encoding': 'chunked' })).status).toBe(413)
  expect((await post(fitting.repeat(500))).status).toBe(413)
  expect(await inbox()).toHaveLength(1)
})

test.each([
  { origin: 'http://evil.example' },
  { origin: 'null' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'none' },
])('no web page may send an SMS, not even our own: %o', async (headers: Record<string, string>) => {
  expect((await post('to=4520304050&text=Hi', { ...form, ...headers })).status).toBe(403)
  expect(await inbox()).toEqual([])
})

test('our own origin is a web page as well', async () => {
  const origin = `http://127.0.0.1:${here.port}`
  expect((await post('to=4520304050&text=Hi', { ...form, origin })).status).toBe(403)
})

test('a request that was meant for another host sends no SMS', async () => {
  expect((await post('to=4520304050&text=Hi', { ...form, host: 'evil.example' })).status).toBe(421)
  expect(await inbox()).toEqual([])
})

test('an SMS is posted, and nothing else', async () => {
  expect(await here.ask('/sms')).toMatchObject({ status: 405, headers: { allow: 'POST' } })
})

test('only the last two hundred are kept', () => {
  const box = openSmsBox()
  for (let number = 1; number <= 205; number++) box.deliver('4520304050', `Number ${number}`)
  const texts = box.messages().map(({ text }) => text)
  expect([texts.length, texts[0], texts.at(-1)]).toEqual([200, 'Number 6', 'Number 205'])
})

test('SMS and mail stand in one list, newest first, and are cleared together', async () => {
  await here.sendMail({ subject: 'The older' })
  await aMillisecondLater()
  await here.sendSms('4520304050', 'The newer')
  expect((await inbox()).map(({ kind }: { kind: string }) => kind)).toEqual(['sms', 'mail'])
  await here.ask('/inbox', { method: 'DELETE' })
  expect(await inbox()).toEqual([])
})

test('an SMS shows its number with a plus, its text, its code to copy and its link', async () => {
  await here.sendSms('4520304050', 'Your code is 123456, or https://example.com/go')
  for (const path of ['/inbox', '/inbox/sms-1']) {
    const { status, body } = await here.ask(path)
    expect(status).toBe(200)
    expect(body).toContain('+4520304050')
    expect(body).toContain('Your code is 123456, or https://example.com/go')
    expect(body).toContain('<code>123456</code>')
    expect(body).toContain('data-copy="123456"')
    expect(body).toContain('href="https://example.com/go" target="_blank" rel="noopener noreferrer"')
  }
})

test('an SMS has neither HTML nor a source', async () => {
  await here.sendSms('4520304050', 'Hi')
  const { body } = await here.ask('/inbox/sms-1')
  expect(body).not.toContain('<iframe')
  expect(body).not.toContain('/raw')
  expect(body).not.toContain('class="code"')
  for (const path of ['/inbox/sms-1/html', '/inbox/sms-1/raw']) expect((await here.ask(path)).status).toBe(404)
})

test('whatever an SMS contains, the pages around it stay ours', async () => {
  await here.sendSms(
    '4520304050',
    `"'><script>alert(1)</script><img src=x onerror=alert(1)> http://example.com/"onclick="alert(1)`,
  )
  for (const path of ['/inbox', '/inbox/sms-1']) {
    const { body } = await here.ask(path)
    expect(body.match(/<script>/g)).toHaveLength(1)
    expect(body).toContain('&#60;script&#62;alert(1)')
    expect(body).not.toMatch(/<img src=x/)
    expect(body).not.toMatch(/<[^>]* on(click|error)=/)
  }
})

/** The order is by time, and two messages of one millisecond have none. */
async function aMillisecondLater(): Promise<void> {
  const now = Date.now()
  while (Date.now() === now) await new Promise(setImmediate)
}
