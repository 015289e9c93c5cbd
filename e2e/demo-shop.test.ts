import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startHttpFake } from '@tollgate/kit/http-fake'
import type { Browser, BrowserContextOptions, FrameLocator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openBrowser } from './browser.ts'
import { curl } from './curl.ts'
import { type DevProcess, freePorts, startDev } from './dev-process.ts'

/** Customers of the shop of development mode, and the popup of the payments service itself. */
const folder = mkdtempSync(join(tmpdir(), 'tollgate-shop-'))
let dev: DevProcess
let browser: Browser

beforeAll(async () => {
  dev = startDev(folder, await freePorts())
  ;[browser] = await Promise.all([openBrowser(), dev.ready])
})

afterAll(async () => {
  await browser?.close()
  dev.child.kill('SIGTERM')
  await dev.exited
  rmSync(folder, { recursive: true, force: true })
})

const complaints: string[] = []
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
  expect(complaints.splice(0)).toEqual([])
})

async function visitShop(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  page.on('pageerror', (problem) => complaints.push(String(problem)))
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  await page.goto(`${dev.welcome}/shop`)
  return page
}

const popupOf = (page: Page) => page.frameLocator('dialog > iframe')
const popups = (page: Page) => page.locator('dialog > iframe').count()
const said = (page: Page) => page.locator('#said').innerText()

async function open(page: Page, button = 'Buy Fern in a clay pot'): Promise<FrameLocator> {
  await page.getByRole('button', { name: button }).click()
  await popupOf(page).locator('#number').waitFor()
  return popupOf(page)
}

async function payIn(popup: FrameLocator, outcome = 'testApprovedFrictionless'): Promise<void> {
  await popup.locator('#outcome').selectOption(outcome)
  await popup.locator('#number').fill('4100000000000000')
  await popup.locator('#expiry').fill('12 / 39')
  await popup.locator('#code').fill('123')
  await popup.locator('#pay').click()
}

/** What the order page says of a transaction, by the command that it tells. */
async function orderOf(page: Page): Promise<Record<string, unknown>> {
  await page.getByRole('heading', { name: 'Thank you' }).waitFor()
  const answer = await curl(await page.locator('pre').first().innerText())
  expect(answer.status).toBe(200)
  const { transaction } = JSON.parse(answer.text)
  expect(await page.locator('#transaction').innerText()).toBe(transaction.id)
  return transaction
}

test('a customer buys a fern in the popup, and the shop has the transaction', async () => {
  const page = await visitShop()
  await payIn(await open(page))
  expect(await orderOf(page)).toMatchObject({
    amount: 2450,
    currency: 'EUR',
    successful: true,
    tds: 'full',
    custom: { item: 'fern' },
    card: { last4: '0000', scheme: 'visa' },
  })
  const [, capture = ''] = await page.locator('pre').allInnerTexts()
  expect((await curl(capture)).status).toBeLessThan(300)
})

test('the bank asks in a frame of the popup', async () => {
  const page = await visitShop()
  const popup = await open(page, 'Buy Ceramic mug')
  await payIn(popup, 'testApproved')
  const bank = popup.locator('#challenge-frame iframe').contentFrame()
  await bank.locator('button[value=approve]').click()
  expect(await orderOf(page)).toMatchObject({ amount: 2200, tds: 'full' })
})

test('what the customer is asked in the popup comes with the order', async () => {
  const page = await visitShop()
  const popup = await open(page, 'Buy Beeswax candles, three')
  await popup.getByLabel('Words for the card').fill('Til lykke!')
  await payIn(popup)
  expect(await orderOf(page)).toMatchObject({ custom: { item: 'candles', greeting: 'Til lykke!' } })
  expect(await page.locator('dl').innerText()).toContain('Til lykke!')
})

test('a subscription is paid for the first month, and agreed to for the next', async () => {
  const page = await visitShop()
  await payIn(await open(page, 'Subscribe A plant a month'))
  expect(await orderOf(page)).toMatchObject({ amount: 1900, custom: { item: 'monthly' } })
  // The agreement is what later payments can be made from.
  const [lookUp = ''] = await page.locator('pre').allInnerTexts()
  const { transaction } = JSON.parse((await curl(lookUp)).text)
  const again = lookUp.replace(/\/transactions\/.*/, `/merchants/${transaction.merchantId}/transactions`)
  const answer = await curl(`${again} -d 'transactionId=${transaction.id}&currency=EUR&amount=1900'`)
  expect([answer.status, answer.text]).toEqual([201, expect.stringContaining('"transaction"')])
})

test('a gift card is paid by a link that comes back to the shop', async () => {
  const page = await visitShop()
  await page.getByRole('link', { name: 'Pay by link' }).click()
  await page.waitForURL(/\/pos\?/)
  await page.locator('#outcome').selectOption('testApprovedFrictionless')
  await page.locator('#number').fill('4100000000000000')
  await page.locator('#expiry').fill('12 / 39')
  await page.locator('#code').fill('123')
  await page.locator('#pay').click()
  await page.waitForURL(/\/shop\/order\?transactionId=/)
  expect(await orderOf(page)).toMatchObject({ amount: 5000, custom: { reference: 'gift-card' } })
})

test('a card that is declined leaves the popup open for another one', async () => {
  const page = await visitShop()
  const popup = await open(page)
  await payIn(popup, 'testInsufficientFunds')
  await popup.locator('#failure').waitFor()
  expect(await said(page)).toBe('')
  await payIn(popup)
  expect(await orderOf(page)).toMatchObject({ amount: 2450, successful: true })
  // So browsers tell of every answer that is no success.
  expect(complaints.splice(0).join()).toContain('status of 400')
})

test('whoever closes the popup is back where they were, and the shop says that nothing was bought', async () => {
  const page = await visitShop()
  const button = page.getByRole('button', { name: 'Buy Oak serving board' })
  await button.scrollIntoViewIfNeeded()
  const where = () => page.evaluate(() => [scrollX, scrollY, document.documentElement.getAttribute('style')])
  const before = await where()
  const popup = await open(page, 'Buy Oak serving board')
  await page.mouse.wheel(0, 900)
  await popup.locator('#close').click()
  await expect.poll(() => said(page)).toContain('nothing was bought')
  expect(await popups(page)).toBe(0)
  expect(await where()).toEqual(before)
  expect(await button.evaluate((element) => element === document.activeElement)).toBe(true)
})

test('the keyboard does it: Enter opens, Tab stays inside, Escape closes', async () => {
  const page = await visitShop()
  const button = page.getByRole('button', { name: 'Buy Wool blanket' })
  await button.focus()
  await page.keyboard.press('Enter')
  await popupOf(page).locator('#number:focus').waitFor()
  for (let presses = 0; presses < 12; presses++) {
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.closest('main'))).toBeNull()
  }
  await popupOf(page).locator('#number').focus()
  await page.keyboard.press('Escape')
  await expect.poll(() => said(page)).toContain('nothing was bought')
  expect(await button.evaluate((element) => element === document.activeElement)).toBe(true)
})

test('a second popup takes the place of the first, and only it is paid', async () => {
  const page = await visitShop()
  await open(page)
  await page.evaluate(() => document.querySelector<HTMLElement>('[aria-label="Buy Ceramic mug"]')?.click())
  expect(await popups(page)).toBe(1)
  await popupOf(page).getByText('Ceramic mug').waitFor()
  expect(await said(page)).toBe('')
  await payIn(popupOf(page))
  expect(await orderOf(page)).toMatchObject({ custom: { item: 'mug' } })
})

test('other windows can neither end a payment nor make one up', async () => {
  const page = await visitShop()
  const popup = await open(page)
  await page.evaluate(() => {
    for (const tollgate of ['paid', 'closed', 'failed'])
      window.postMessage({ tollgate, message: 'Forged', result: { transaction: { id: '0'.repeat(24) } } }, '*')
  })
  // The frame has been told by the shop already what is to be paid: who tells it something else is not heard.
  await page.evaluate(() => {
    const amount = { currency: 'EUR', exponent: 2, value: 1 }
    const { contentWindow } = document.querySelector<HTMLIFrameElement>('dialog > iframe') as HTMLIFrameElement
    contentWindow?.postMessage({ tollgate: 'pay', config: { test: true, amount } }, '*')
  })
  await payIn(popup)
  expect(await orderOf(page)).toMatchObject({ amount: 2450 })
})

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What https://github.com/dequelabs/axe-core has against a page of the shop. */
async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const found = page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
    'axe.run({ iframes: false }).then(({ violations }) => violations)',
  )
  return (await found).flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}

test.each([
  { width: 1280, dark: false },
  { width: 1280, dark: true },
  { width: 320, dark: false },
  { width: 320, dark: true },
])('shop, popup and order fit a screen of $width pixels, and axe finds nothing (dark: $dark)', async ({ width, dark }) => {
  const page = await visitShop({ viewport: { width, height: 700 }, colorScheme: dark ? 'dark' : 'light' })
  const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  expect(await overflow()).toBe(0)
  expect(await barriers(page)).toEqual([])
  const popup = await open(page)
  expect(await barriers(page)).toEqual([])
  expect(await popup.locator('html').evaluate((root) => root.scrollWidth - root.clientWidth)).toBe(0)
  await payIn(popup)
  await orderOf(page)
  expect(await overflow()).toBe(0)
  expect(await barriers(page)).toEqual([])
})

test('the page of the guide takes a payment as it stands there', async () => {
  const page = await visitShop()
  const guide = readFileSync(join(import.meta.dirname, '../docs/guides/checkout.md'), 'utf8')
  const key = (await page.getAttribute('body', 'data-key')) ?? ''
  const text = (/```html\n([\s\S]*?)```/.exec(guide)?.[1] ?? '')
    .replace('http://localhost:8082', dev.payments)
    .replace('PUBLIC_KEY', key)
  const icon = { headers: { 'content-type': 'image/svg+xml' } }
  const site = await startHttpFake({ 'GET /': { headers: { 'content-type': 'text/html' }, text }, 'GET /favicon.ico': icon })
  onTestFinished(() => site.close())
  await page.goto(site.origin)
  const popup = await open(page, 'A fern for € 24.50')
  await popup.locator('#close').click()
  await expect.poll(() => said(page)).toBe('You closed the popup, so nothing was bought.')
  await payIn(await open(page, 'A fern for € 24.50'))
  await expect.poll(() => said(page)).toMatch(/^Paid: [0-9a-f]{24}$/)
})

test('a shop whose payments service is gone says so, and sells nothing', async () => {
  const page = await visitShop()
  await page.route('**/sdk.js', (route) => route.abort())
  await page.reload()
  await expect.poll(() => said(page)).toContain('does not answer')
  expect(await page.locator('button[data-payment]:enabled').count()).toBe(0)
  complaints.splice(0)
})
