import { randomUUID } from 'node:crypto'
import { type FakeReply, startHttpFake } from '@tollgate/kit/http-fake'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startWithInbox } from '../packages/identity/src/testing.ts'
import { openBrowser } from './browser.ts'
import { contrast } from './contrast.ts'

const slow = Promise.withResolvers<FakeReply>()
let browser: Browser
let site: Awaited<ReturnType<typeof startHttpFake>>
let elsewhere: Awaited<ReturnType<typeof startHttpFake>>
let service: Awaited<ReturnType<typeof startWithInbox>>

beforeAll(async () => {
  browser = await openBrowser()
  const html = { 'content-type': 'text/html' }
  elsewhere = await startHttpFake({ 'GET /home': { headers: html, text: '<h1>At home</h1>' } })
  site = await startHttpFake({
    'GET /': { headers: html, text: '<h1>The site</h1>' },
    'GET /in': { headers: html, text: '<h1>Inside</h1>' },
    'GET /slow': () => slow.promise,
    'GET /frame': ({ query }) => ({ headers: html, text: `<iframe src="${query.around?.replaceAll('&', '&amp;')}">` }),
    'GET /on': { status: 302, headers: { location: `${elsewhere.origin}/home` } },
  })
  service = await startWithInbox({
    AUTH_SITE_URL: site.origin,
    AUTH_SMTP_MAX_FREQUENCY: '0',
    AUTH_MAILER_LINK_PAGE_ENABLED: 'true',
    AUTH_URI_ALLOW_LIST: 'com.app://**',
  })
})
afterAll(async () => {
  await browser?.close()
  await service?.stop()
  await Promise.all([site?.close(), elsewhere?.close()])
})

const complaints: string[] = []
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
  expect(complaints.splice(0)).toEqual([])
})

async function openPage(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  page.on('pageerror', (problem) => complaints.push(String(problem)))
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('dialog', (dialog) => {
    complaints.push(dialog.message())
    void dialog.dismiss()
  })
  await page.goto(service.origin + path)
  return page
}

/** The path and query of the link in a mail that somebody asked for. */
async function askForLink(destination = `${site.origin}/in`): Promise<string> {
  const email = `${randomUUID()}@people.test`
  await service.call(`POST /otp?redirect_to=${encodeURIComponent(destination)}`, { json: { email } })
  const { pathname, search } = new URL((await service.mailTo(email)).link)
  return pathname + search
}

test('a person who comes after a scanner presses the button and is in', async () => {
  const link = await askForLink()
  for (const method of ['HEAD', 'GET', 'GET']) await service.call(`${method} ${link}`)
  const scanner = await openPage(link)
  await scanner.waitForLoadState('networkidle')
  // What the page names besides the form, a scanner would open as well.
  expect(await scanner.locator('a, [href], [src], meta[http-equiv]').count()).toBe(0)

  const page = await openPage(link)
  expect(await page.title()).toBe(`Confirm your email address · ${new URL(site.origin).host}`)
  await page.getByRole('button', { name: 'Confirm my address' }).click()
  await page.getByRole('heading', { name: 'Inside' }).waitFor()
  expect(page.url()).toMatch(new RegExp(`^${site.origin}/in#access_token=.+&type=signup$`))
  expect((await site.request(site.requests.length)).headers.referer).toBeUndefined()

  await scanner.getByRole('button').click()
  await scanner.getByRole('heading', { name: 'Inside' }).waitFor()
  expect(scanner.url()).toContain('error_code=otp_expired')
})

test('whoever presses twice is in all the same', async () => {
  const page = await openPage(await askForLink())
  await page.getByRole('button').dblclick()
  await page.getByRole('heading', { name: 'Inside' }).waitFor()
  expect(page.url()).toContain('#access_token=')
})

test('whoever presses again while the site is slow is in all the same', async () => {
  const page = await openPage(await askForLink(`${site.origin}/slow`))
  const seen = site.requests.length
  await page.getByRole('button').focus()
  await page.keyboard.press('Enter')
  await site.request(seen + 1)
  await page.keyboard.press('Enter')
  slow.resolve({ headers: { 'content-type': 'text/html' }, text: '<h1>At last</h1>' })
  await page.getByRole('heading', { name: 'At last' }).waitFor()
  expect(page.url()).toContain('#access_token=')
  expect(site.requests.slice(seen).filter(({ path }) => path === '/slow')).toHaveLength(1)
})

test('whoever comes back may press again', async () => {
  const page = await openPage(await askForLink())
  await page.getByRole('button').click()
  await page.waitForURL(/#access_token=/)
  await page.goBack()
  await page.getByRole('button').click()
  await page.waitForURL(/error_code=otp_expired/)
})

test('a destination that leads on to another host is reached, session and all', async () => {
  const page = await openPage(await askForLink(`${site.origin}/on`))
  await page.getByRole('button').click()
  await page.getByRole('heading', { name: 'At home' }).waitFor()
  expect(page.url()).toMatch(new RegExp(`^${elsewhere.origin}/home#access_token=`))
})

test('the address of an app is handed to the system', async () => {
  const page = await openPage(await askForLink('com.app://open'))
  // There is no such app here, so that a failure is what shows that it was looked for.
  const handedOver = page.waitForEvent('requestfailed', (request) => request.url().startsWith('com.app://open'))
  await page.getByRole('button').click()
  await handedOver
})

test('the keyboard does it, without any script', async () => {
  const page = await openPage(await askForLink(), { javaScriptEnabled: false })
  await page.keyboard.press('Tab')
  expect(await page.locator(':focus').innerText()).toBe('Confirm my address')
  expect(await page.locator(':focus').evaluate((button) => getComputedStyle(button).outlineStyle)).toBe('solid')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/in#access_token=/)
})

test.each([
  '"><script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '"></form><form action="https://evil.test">',
  '<svg onload=alert(1)>',
  '"autofocus onfocus="alert(1)',
])('a link with %s in it does nothing of the sort', async (words) => {
  const query = new URLSearchParams({ token: words, type: 'recovery', redirect_to: `${site.origin}/in?${words}` })
  const page = await openPage(`/verify?${query}`)
  expect(await page.locator('img, svg').count()).toBe(0)
  expect(await page.locator('script').allTextContents()).toEqual([expect.stringContaining('sentAt')])
  expect(await page.locator('form').count()).toBe(1)
  expect(await page.locator('[name=token]').inputValue()).toBe(words)
  await page.getByRole('button', { name: 'Reset my password' }).click()
  await page.getByRole('heading', { name: /Inside|The site/ }).waitFor()
  expect(new URL(page.url()).origin).toBe(site.origin)
  expect(page.url()).toContain('error_code=otp_expired')
})

test('the page is not shown in a frame', async () => {
  const link = await askForLink()
  const context = await browser.newContext()
  const page = await context.newPage()
  const said: string[] = []
  page.on('console', (message) => said.push(message.text()))
  await page.goto(`${site.origin}/frame?${new URLSearchParams({ around: service.origin + link })}`)
  await expect.poll(() => said.join()).toContain('frame-ancestors')
  expect(await page.frameLocator('iframe').getByRole('button').count()).toBe(0)
})

const types = ['signup', 'invite', 'recovery', 'magiclink', 'email', 'email_change']

test.each([
  { width: 1280, dark: false },
  { width: 1280, dark: true },
  { width: 320, dark: false },
  { width: 320, dark: true },
])('every page fits a screen of $width pixels and can be read (dark: $dark)', async ({ width, dark }) => {
  const page = await openPage('/health', { viewport: { width, height: 700 }, colorScheme: dark ? 'dark' : 'light' })
  for (const type of types) {
    await page.goto(`${service.origin}/verify?token=${'f'.repeat(300)}&type=${type}`)
    expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0)
    const button = await page.getByRole('button').boundingBox()
    expect(button?.height).toBeGreaterThanOrEqual(44)
    for (const part of ['h1', '.site', '.card p', 'button', '.note'])
      expect(await page.locator(part).first().evaluate(contrast)).toBeGreaterThanOrEqual(4.5)
  }
})
