import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Visit, visitWelcome } from '../packages/tollgate/src/welcome/testing.ts'
import { openBrowser } from './browser.ts'

let browser: Browser
let here: Visit

beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser?.close())
beforeEach(async () => {
  here = await visitWelcome()
})
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
  await here.close()
})

const complaints: string[] = []
afterEach(() => expect(complaints.splice(0)).toEqual([]))

async function openInbox(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  page.on('pageerror', (problem) => complaints.push(String(problem)))
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  await page.goto(`http://127.0.0.1:${here.port}/inbox`)
  return page
}

const withClipboard = { permissions: ['clipboard-read', 'clipboard-write'] }
const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

test('an SMS that is posted appears in the open inbox by itself, and one click copies its code', async () => {
  const page = await openInbox(withClipboard)
  await page.evaluate(() => document.body.classList.add('not-reloaded'))
  expect((await here.sendSms('4520304050', 'Your code is 123456')).status).toBe(200)

  const row = page.locator('.not-reloaded #row-sms-1')
  await row.waitFor()
  expect(await row.innerText()).toContain('+4520304050')
  expect(await row.locator('.code code').innerText()).toBe('123456')
  expect(await page.locator('#announcements').innerText()).toBe('New SMS to +4520304050: Your code is 123456')
  expect(await page.locator('[data-count]').innerText()).toBe('1')

  const button = row.getByRole('button', { name: 'Copy the code 123456' })
  await button.click()
  await row.getByText('Copied').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('123456')
})

test('a mail brings its link and its code, each one click away', async () => {
  const page = await openInbox(withClipboard)
  await here.sendMail({ subject: 'Confirm', text: 'Enter 654321 or follow http://localhost:8081/verify?token=abc' })
  const row = page.locator('#row-1')
  await row.waitFor()
  expect(await row.getByRole('link', { name: 'Open link of Confirm' }).getAttribute('href')).toBe(
    'http://localhost:8081/verify?token=abc',
  )
  await row.getByRole('button', { name: 'Copy the code 654321' }).click()
  await row.getByText('Copied').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('654321')
})

test('a browser that does not let the page copy says so', async () => {
  const page = await openInbox()
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new DOMException('no', 'NotAllowedError'))
  })
  await here.sendSms('4520304050', 'Your code is 123456')
  await page.getByRole('button', { name: 'Copy the code 123456' }).click()
  await page.getByText('Refused').waitFor()
})

test('without a script the code is there to be read and selected with a click, and no button that does nothing', async () => {
  await here.sendSms('4520304050', 'Your code is 123456')
  const page = await openInbox({ javaScriptEnabled: false })
  const code = page.locator('.code code')
  expect(await code.innerText()).toBe('123456')
  expect(await page.locator('.copy').isVisible()).toBe(false)
  await code.click()
  expect(await page.evaluate(() => String(getSelection()))).toBe('123456')
  await page.locator('#message-sms-1').click()
  await page.getByRole('heading', { name: 'SMS to +4520304050' }).waitFor()
})

test('the focus stays where it is while messages arrive', async () => {
  await here.sendSms('4520304050', 'Your code is 123456, or http://localhost/go')
  const page = await openInbox()
  for (const id of ['message-sms-1', 'copy-sms-1', 'open-sms-1']) {
    await page.locator(`#${id}`).focus()
    const { id: newest } = JSON.parse((await here.sendSms('4520304050', 'Another')).body)
    await page.locator(`#row-${newest}`).waitFor()
    expect(await page.evaluate(() => document.activeElement?.id)).toBe(id)
  }
})

test('from the row, the keyboard reaches the code and the link in turn', async () => {
  await here.sendSms('4520304050', 'Your code is 123456, or http://localhost/go')
  const page = await openInbox()
  await page.locator('#message-sms-1').focus()
  const reached: (string | undefined)[] = []
  for (const _ of ['copy', 'open']) {
    await page.keyboard.press('Tab')
    reached.push(await page.evaluate(() => document.activeElement?.id))
  }
  expect(reached).toEqual(['copy-sms-1', 'open-sms-1'])
})

test.each([
  { width: 1280, dark: false },
  { width: 1280, dark: true },
  { width: 800, dark: false },
  { width: 320, dark: false },
  { width: 320, dark: true },
])('mail and SMS fit a screen of $width pixels (dark: $dark)', async ({ width, dark }) => {
  await here.sendMail({
    subject: 'Confirm Your Signup',
    text: 'Confirm your email address\n\nFollow http://localhost:8081/verify?token=abc or enter\n654321',
  })
  await here.sendMail({ subject: 'A mail with neither link nor code', to: 'somebody.with.a.long.name@department.example.com' })
  await here.sendSms('4520304050', 'Your code is 123456')
  await here.sendSms('123456789012345', `Your code is 1234567890. ${'Long words matter. '.repeat(8)} https://example.com/go`)
  await here.sendSms('4520304050', 'w'.repeat(300))
  const page = await openInbox({ viewport: { width, height: 900 }, colorScheme: dark ? 'dark' : 'light' })
  expect(await overflow(page)).toBeLessThanOrEqual(0)
  for (const id of ['sms-2', '1']) {
    await page.goto(`http://127.0.0.1:${here.port}/inbox/${id}`)
    expect(await overflow(page)).toBeLessThanOrEqual(0)
  }
})
