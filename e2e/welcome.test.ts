import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser } from './browser.ts'
import { curl } from './curl.ts'
import { type DevProcess, freePorts, startDev } from './dev-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-welcome-'))
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

/** A page whose complaints (scripts that fail, what the content policy refuses) count as failures of the test. */
async function openPage(url: string, options: { width: number; dark?: boolean }): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext({
    viewport: { width: options.width, height: 800 },
    colorScheme: options.dark ? 'dark' : 'light',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (problem) => complaints.push(String(problem)))
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  await page.goto(url)
  return { page, complaints }
}

const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

test.each([{ width: 1280 }, { width: 1280, dark: true }, { width: 320 }])(
  'the welcome page shows every address and fits a screen of $width pixels',
  async (options) => {
    const { page, complaints } = await openPage(dev.welcome, options)
    const text = await page.innerText('body')
    for (const origin of [dev.identity, dev.payments]) expect(text).toContain(new URL(origin).port)
    expect(text).toContain('/me')
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    expect(complaints).toEqual([])
    await page.context().close()
  },
)

test('the first commands of the welcome page work as they stand there', async () => {
  const { page } = await openPage(dev.welcome, { width: 1280 })
  const commands = (await page.locator('pre').allInnerTexts()).filter((text) => text.includes('curl'))
  expect(commands.length).toBeGreaterThanOrEqual(3)
  for (const command of commands) expect((await curl(command.replace(/^\$ /, ''))).status, command).toBeLessThan(300)
  await page.context().close()
})

test('every link of the welcome page leads somewhere', async () => {
  const { page } = await openPage(dev.welcome, { width: 1280 })
  const links = await page
    .locator('a[href^="http"], a[href^="/"]')
    .evaluateAll((anchors) => anchors.map((anchor) => (anchor as HTMLAnchorElement).href))
  expect(links.length).toBeGreaterThanOrEqual(5)
  for (const link of links) expect((await page.request.get(link)).status(), link).toBe(200)
  await page.context().close()
})

test('the command of the empty inbox that sends an SMS works as it stands there', async () => {
  await fetch(`${dev.welcome}/inbox`, { method: 'DELETE' })
  const { page, complaints } = await openPage(`${dev.welcome}/inbox`, { width: 320 })
  expect(await overflow(page)).toBeLessThanOrEqual(0)
  const command = await page.locator('pre', { hasText: '/sms' }).innerText()
  expect((await curl(command.replace(/^\$ /, ''))).status).toBe(200)
  const row = page.locator('.messages .sms')
  expect(await row.locator('.to').innerText()).toContain('+4520304050')
  expect(await row.locator('.code code').innerText()).toBe('123456')
  expect(complaints).toEqual([])
  await page.context().close()
})

test('a mail that is sent appears in the open inbox by itself', async () => {
  const { page, complaints } = await openPage(`${dev.welcome}/inbox`, { width: 1280 })
  const transport = createTransport({ host: '127.0.0.1', port: dev.smtpPort })
  await transport.sendMail({
    from: 'shop@example.com',
    to: 'ann@example.com',
    subject: 'Your order <b>today</b>',
    text: 'See https://example.com/order/1',
  })
  transport.close()
  await page.locator('a[href^="/inbox/"]', { hasText: 'Your order <b>today</b>' }).click()
  await page.getByRole('heading', { name: 'Your order <b>today</b>' }).waitFor()
  expect(
    await page
      .getByRole('link', { name: /example\.com\/order\/1/ })
      .first()
      .getAttribute('href'),
  ).toBe('https://example.com/order/1')
  expect(complaints).toEqual([])
  await page.context().close()
})

test.each(['identity', 'payments'] as const)(
  'the docs page of %s reads well on a phone and asks nobody else for anything',
  async (service) => {
    const asked: string[] = []
    const { page, complaints } = await openPage('about:blank', { width: 320 })
    page.on('request', (request) => asked.push(new URL(request.url()).origin))
    await page.goto(`${dev[service]}/docs`)
    expect(await page.locator('section').count()).toBeGreaterThanOrEqual(2)
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    // Beside the text, too, the list has room for its longest path.
    await page.setViewportSize({ width: 1000, height: 700 })
    expect(await page.locator('nav').evaluate((list) => list.scrollWidth - list.clientWidth)).toBe(0)
    expect([...new Set(asked)]).toEqual([dev[service]])
    expect(complaints).toEqual([])
    await page.context().close()
  },
)
