import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type HttpFake, startHttpFake } from '@tollgate/kit/http-fake'
import { startPayments } from '@tollgate/payments/testing'
import type { Browser, BrowserContextOptions, FrameLocator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { fingerprintPage } from '../packages/payments/src/pages/fingerprint-page.ts'
import type { FramedPage } from '../packages/payments/src/pages/framed-page.ts'
import { silentPage } from '../packages/payments/src/pages/silent-page.ts'
import { tdsChallengePage } from '../packages/payments/src/pages/tds-challenge-page.ts'
import { tdsMethodPage } from '../packages/payments/src/pages/tds-method-page.ts'
import { freePort } from '../packages/tollgate/src/testing.ts'
import { openBrowser } from './browser.ts'
import { contrast } from './contrast.ts'
import { openShop as openMerchant, type Payments, type Shop } from './payments-service.ts'

const ordinary = {
  merchant: 'Coffee & John',
  amountText: '€12.50',
  cardText: 'Visa •••• 0000',
  approve: ['the payer confirmed'],
  fail: ['the payer refused'],
}
const hostile = `</script><script>parent.postMessage('broken','*')</script><img src=x onerror="parent.postMessage('broken','*')">"'`
const long = { ...ordinary, merchant: 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbau'.repeat(2), language: 'pl' }

const pages: Record<string, FramedPage> = {
  method: tdsMethodPage({ hints: ['one', 'two', 'three'] }),
  fingerprint: fingerprintPage({ hints: ['one'] }),
  silent: silentPage(),
  challenge: tdsChallengePage(ordinary),
  danish: tdsChallengePage({ ...ordinary, amountText: '1.234,50 kr.', language: 'da-DK,en;q=0.5' }),
  long: tdsChallengePage(long),
  hostile: tdsChallengePage({
    merchant: hostile,
    amountText: hostile,
    cardText: hostile,
    approve: [hostile],
    fail: [hostile],
    language: hostile,
  }),
}

let browser: Browser
let bank: HttpFake
let shop: HttpFake

beforeAll(async () => {
  browser = await openBrowser()
  bank = await startHttpFake(({ method, path }) => {
    const { page, policy } = pages[path.slice(1)] ?? silentPage()
    const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy }
    return method === 'POST' ? { headers, text: page } : { status: 404 }
  })
  shop = await startHttpFake({ 'GET /': { headers: { 'content-type': 'text/html; charset=utf-8' }, text: shopPage } })
})
afterAll(async () => {
  await browser?.close()
  await Promise.all([bank?.close(), shop?.close()])
})

const complaints: string[] = []
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
  expect(complaints.splice(0)).toEqual([])
})

/** A page of somebody else's that keeps what it is told, with a frame that fills it. */
const shopPage = `<!doctype html><html lang="en"><title>The shop</title><style>html, body { margin: 0; height: 100% } iframe { display: block; width: 100%; height: 100%; border: 0 }</style>
<body><iframe name="frame" title="Bank"></iframe>
<script>window.told = []; addEventListener('message', (event) => told.push({ data: event.data, origin: event.origin }))</script></body></html>`

async function openShop(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 500, height: 600 }, ...options })
  const page = await context.newPage()
  page.on('pageerror', (problem) => complaints.push(String(problem)))
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('request', (request) => {
    if (!request.url().startsWith(shop.origin) && !request.url().startsWith(bank.origin)) complaints.push(request.url())
  })
  await page.goto(`${shop.origin}/`)
  return page
}

/** As clients in browsers do: a form, sent into the frame. What is shown there is there when this is over. */
async function postForm(page: Page, name: string): Promise<FrameLocator> {
  await page.evaluate(async (action) => {
    const form = Object.assign(document.createElement('form'), { action, method: 'POST', target: 'frame' })
    document.body.append(form)
    const shown = new Promise((resolve) => document.querySelector('iframe')?.addEventListener('load', resolve, { once: true }))
    form.submit()
    await shown
  }, `${bank.origin}/${name}`)
  return page.frameLocator('iframe')
}

/** What engines of phones do to the text of a page before they write it into their frame. */
const engines: Record<string, (page: string) => string> = {
  swift: (page) => page,
  kotlin: (page) => page.replace('\n', () => objectExtension),
  dart: (page) => `<!DOCTYPE html><html>\n<head>\n</head>\n${page}\n</html>\n`,
}

/** The one of Android puts its own statements in place of the first end of a line. */
const objectExtension = `

  Object.prototype.entries = (obj) => Object.keys(obj).map((key) => [key, obj[key]])

  Object.prototype.fromEntries = (entries) => {
    const result = {};
    for (const [key, value] of entries) Object.defineProperty(result, key, { value, enumerable: true });
    return result;
  }

`

async function write(page: Page, name: string, engine: string): Promise<FrameLocator> {
  const text = engines[engine]?.(pages[name]?.page ?? '') ?? ''
  await page.evaluate((written) => {
    const inside = document.querySelector('iframe')?.contentWindow?.document
    inside?.open()
    inside?.write(written)
    inside?.close()
  }, text)
  return page.frameLocator('iframe')
}

type Told = { data: unknown; origin: string }

function toldTo(page: Page): Promise<unknown[]> {
  return page.evaluate(() => (window as unknown as { told: Told[] }).told.map(({ data }) => data))
}

test.each([
  ['method', ['one', 'two', 'three']],
  ['fingerprint', ['one']],
])('the page %s tells its hints to the page around it, in one message', async (name, hints) => {
  const page = await openShop()
  await postForm(page, name)
  await expect.poll(() => toldTo(page)).toEqual([{ hints }])
  expect(await page.evaluate(() => (window as unknown as { told: Told[] }).told[0]?.origin)).toBe(bank.origin)
})

test('the silent page tells nothing', async () => {
  const page = await openShop()
  await postForm(page, 'silent')
  // What comes after it was told after it.
  await postForm(page, 'method')
  await expect.poll(() => toldTo(page)).toEqual([{ hints: ['one', 'two', 'three'] }])
})

test.each([
  ['Confirm', ['the payer confirmed'], 'Confirmed. Back to the shop …'],
  ['Refuse', ['the payer refused'], 'Refused. Back to the shop …'],
])('whoever presses %s, however often, is answered once', async (label, hints, told) => {
  const page = await openShop()
  const frame = await postForm(page, 'challenge')
  expect(await frame.getByRole('definition').allInnerTexts()).toEqual(['Coffee & John', '€12.50', 'Visa •••• 0000'])
  await frame.getByRole('button', { name: label }).dblclick()
  expect(await frame.getByRole('status').innerText()).toBe(told)
  for (const button of await frame.getByRole('button').all()) {
    expect(await button.isDisabled()).toBe(true)
    await button.evaluate((element) => (element as HTMLButtonElement).click())
  }
  // What is told after everything else has everything before it.
  await frame.locator('body').evaluate(() => parent.postMessage('over', '*'))
  await expect.poll(() => toldTo(page)).toEqual([{ hints }, 'over'])
})

test('the keyboard alone confirms, and its owner sees where they are and hears what happened', async () => {
  const page = await openShop()
  const frame = await postForm(page, 'challenge')
  await frame.getByRole('heading').waitFor()
  await page.keyboard.press('Tab')
  const focus = frame.locator(':focus')
  expect(await focus.innerText()).toBe('Confirm')
  expect(await focus.evaluate((button) => getComputedStyle(button).outlineStyle)).toBe('solid')
  await page.keyboard.press('Tab')
  expect(await focus.innerText()).toBe('Refuse')
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Enter')
  expect(await focus.getAttribute('role')).toBe('status')
  await expect.poll(() => toldTo(page)).toEqual([{ hints: ['the payer confirmed'] }])
})

test.each(Object.keys(engines))(
  'written page after page into one frame, as the engine in %s does, all of it works',
  async (engine) => {
    const page = await openShop()
    await write(page, 'method', engine)
    await expect.poll(() => toldTo(page)).toEqual([{ hints: ['one', 'two', 'three'] }])
    const frame = await write(page, 'challenge', engine)
    expect(await frame.locator('body').innerText()).not.toContain('Object')
    expect(await frame.locator('html').getAttribute('lang')).toBe('en')
    expect(await frame.locator('h1').evaluate((heading) => getComputedStyle(heading).fontSize)).toBe('22px')
    await frame.getByRole('button', { name: 'Confirm' }).click()
    await expect.poll(() => toldTo(page)).toEqual([{ hints: ['one', 'two', 'three'] }, { hints: ['the payer confirmed'] }])
  },
)

test.each(['served', 'written'])('names that are no names stay text, in a page that is %s', async (way) => {
  const page = await openShop()
  const frame = way === 'served' ? await postForm(page, 'hostile') : await write(page, 'hostile', 'swift')
  expect(await frame.getByRole('definition').allInnerTexts()).toEqual([hostile, hostile, hostile])
  expect(await frame.locator('img').count()).toBe(0)
  await frame.getByRole('button', { name: 'Refuse' }).click()
  await expect.poll(() => toldTo(page)).toEqual([{ hints: [hostile] }])
})

test('the bank speaks the language of the payer', async () => {
  const page = await openShop()
  const frame = await postForm(page, 'danish')
  expect(await frame.locator('html').getAttribute('lang')).toBe('da')
  await frame.getByRole('button', { name: 'Godkend' }).click()
  expect(await frame.getByRole('status').innerText()).toBe('Godkendt. Tilbage til butikken …')
})

/** The smallest window of 3-D Secure, a small phone, and the flattest window. */
const windows = [
  [250, 400],
  [320, 568],
  [600, 400],
] as const

test.each(windows.flatMap(([width, height]) => [false, true].map((dark) => ({ width, height, dark }))))(
  'the bank fits a window of $width by $height and can be read (dark: $dark)',
  async ({ width, height, dark }) => {
    const page = await openShop({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light' })
    for (const name of ['challenge', 'long', 'hostile']) {
      const frame = await postForm(page, name)
      const inside = frame.locator('html')
      await frame.getByRole('heading').waitFor()
      expect({ name, aside: await inside.evaluate((root) => root.scrollWidth - root.clientWidth) }).toEqual({ name, aside: 0 })
      if (name === 'challenge') expect(await inside.evaluate((root) => root.scrollHeight - root.clientHeight)).toBe(0)
      for (const button of await frame.getByRole('button').all()) {
        const box = await button.boundingBox()
        expect(Math.min(box?.height ?? 0, box?.width ?? 0)).toBeGreaterThanOrEqual(44)
      }
      for (const part of ['.bank', '.mark', 'h1', 'dt', 'dd', '.confirm', 'button:not(.confirm)', '.note'])
        expect({ part, contrast: await frame.locator(part).first().evaluate(contrast) }).toSatisfy(isReadable)
      if (name === 'challenge') expect(await findings(page)).toEqual([])
      await frame.getByRole('button').first().click()
      expect(await frame.getByRole('status').evaluate(contrast)).toBeGreaterThanOrEqual(4.5)
    }
  },
)

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Axe = { run(): Promise<{ violations: { id: string; impact: string; help: string }[] }> }

/** What https://github.com/dequelabs/axe-core has against the page in the frame. */
async function findings(page: Page): Promise<unknown[]> {
  const frame = page.frames()[1]
  await frame?.evaluate(axe)
  const found = await frame?.evaluate(() => (window as unknown as { axe: Axe }).axe.run())
  return found?.violations.map(({ id, impact, help }) => ({ id, impact, help })) ?? ['no frame']
}

function isReadable({ contrast }: { contrast: number }): boolean {
  return contrast >= 4.5
}

describe('a whole payment in a browser, from a page on another origin', () => {
  let service: Payments
  let merchant: Shop

  beforeAll(async () => {
    const port = await freePort()
    service = await startPayments({ PAY_API_PORT: String(port), PAY_API_EXTERNAL_URL: `http://127.0.0.1:${port}` })
    merchant = await openMerchant(service)
  })
  afterAll(() => service?.stop())

  type Outcome = { authorizationId: string } | { code: string }

  /** Opens a shop whose script pays by the protocol; what comes of it is told later. */
  async function startPaying(
    simulation: object,
    hurried = false,
  ): Promise<{ page: Page; outcome: Promise<Outcome>; counts(): Promise<number[]> }> {
    const context = await browser.newContext({ viewport: { width: 500, height: 600 } })
    const page = await context.newPage()
    page.on('pageerror', (problem) => complaints.push(String(problem)))
    page.on('console', (message) => {
      // A browser complains of every answer that is an error.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) complaints.push(message.text())
    })
    await page.goto(`${shop.origin}/`)
    await page.addScriptTag({ content: `window.hurried = ${hurried}\n${payingScript}` })
    const order = { integration: { key: merchant.key }, test: simulation, amount: { currency: 'EUR', exponent: 2, value: 1250 } }
    const outcome = page.evaluate(
      ([api, given]) => (window as unknown as { pay(api: string, order: object): Promise<Outcome> }).pay(api, given),
      [service.origin, order] as const,
    )
    return { page, outcome, counts: () => page.evaluate(() => (window as unknown as { counts: number[] }).counts) }
  }

  async function tdsOf(outcome: Outcome): Promise<unknown> {
    const headers = { authorization: merchant.authorization }
    const id = 'authorizationId' in outcome ? outcome.authorizationId : ''
    return (await service.call(`GET /transactions/${id}`, { headers })).json<{ transaction: { tds: string } }>().transaction.tds
  }

  test('the payer confirms: 0, 1, 2, 6, 7, 8, 9, 10 hints and it is paid', async () => {
    const { page, outcome, counts } = await startPaying({})
    const bankPage = page.frameLocator('iframe:last-of-type')
    await bankPage.getByRole('button', { name: 'Confirm' }).waitFor()
    expect(await bankPage.getByRole('definition').allInnerTexts()).toEqual(
      expect.arrayContaining([
        expect.stringContaining('Coffee & John'),
        expect.stringContaining('12.5'),
        expect.stringContaining('0000'),
      ]),
    )
    await bankPage.getByRole('button', { name: 'Confirm' }).click()
    expect(await tdsOf(await outcome)).toBe('full')
    expect(await counts()).toEqual([0, 1, 2, 6, 7, 8, 9, 10])
  })

  test('the payer refuses: it is not paid', async () => {
    const { page, outcome } = await startPaying({})
    await page.frameLocator('iframe:last-of-type').getByRole('button', { name: 'Refuse' }).click()
    expect(await outcome).toMatchObject({ code: 'TDSECURE_FAILED' })
  })

  test('nobody is asked: it is paid without a window', async () => {
    const { outcome, counts } = await startPaying({ tds: { challenge: false } })
    expect(await tdsOf(await outcome)).toBe('full')
    expect(await counts()).toEqual([0, 1, 2, 6, 7])
  })

  test('a bank that is silent at first is waited for no longer than is said', async () => {
    const { outcome, counts } = await startPaying({ tds: { fingerprint: 'timeout', challenge: false } }, true)
    expect(await tdsOf(await outcome)).toBe('full')
    expect(await counts()).toEqual([0, 1, 2, 3, 4])
  })
})

/** A client after the published protocol, as a page would have it. Whoever is hurried waits for no frame for long. */
const payingScript = `
window.counts = []
async function post(url, data) {
  const headers = { 'Content-Type': 'application/json', 'Accept-Version': '1', 'X-Client': 'js-c-1' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(data) })
  const body = JSON.parse((await response.text()).split('\\n')[0])
  if (!response.ok) throw Object.assign(new Error(body.message), { body, id: response.headers.get('x-request-id') })
  return body
}
function openFrame({ action, method, fields, timeout, hints = [] }, hidden) {
  return new Promise((resolve) => {
    const name = 'frame-' + Math.random()
    const frame = Object.assign(document.createElement('iframe'), { name, hidden, title: 'Bank' })
    const form = Object.assign(document.createElement('form'), { action, method, target: name, hidden: true })
    for (const [name, value] of Object.entries(fields)) form.append(Object.assign(document.createElement('input'), { name, value }))
    const done = (more) => { removeEventListener('message', hear); frame.remove(); form.remove(); resolve([...hints, ...more]) }
    const hear = (event) => { if (event.source === frame.contentWindow) done(event.data.hints) }
    addEventListener('message', hear)
    document.body.append(frame, form)
    form.submit()
    if (timeout) setTimeout(done, window.hurried ? 200 : timeout, [])
  })
}
async function pay(api, given) {
  try {
    const number = await post(api + '/vault', { type: 'pcn', value: '4100000000000000' })
    const code = await post(api + '/vault', { type: 'pcsc', value: '123' })
    const order = { ...given, card: { number, code, expiry: { month: 8, year: 2066 } } }
    let hints = []
    for (;;) {
      counts.push(hints.length)
      const { authorizationId, challenges } = await post(api + '/payments', { ...order, hints })
      if (authorizationId) return { authorizationId }
      const [{ type, path }] = challenges
      const step = await post(api + path, { ...order, hints })
      hints = [...hints, ...(type === 'fetch' ? step.hints : await openFrame(step, type === 'background-iframe'))]
    }
  } catch (problem) {
    return problem.body || { code: String(problem) }
  }
}
`
