import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { caller } from '@tollgate/kit/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openBrowser } from './browser.ts'
import { type DevProcess, freePorts, startDev } from './dev-process.ts'

/** The button of the welcome page, clicked as a newcomer does: nothing is registered anywhere. */
const folder = mkdtempSync(join(tmpdir(), 'tollgate-dev-provider-'))
let dev: DevProcess
let provider: string
let browser: Browser
const complaints: string[] = []
const visited: Page[] = []

beforeAll(async () => {
  const ports = await freePorts()
  provider = `http://localhost:${ports.TOLLGATE_PROVIDER_PORT}`
  dev = startDev(folder, ports)
  ;[browser] = await Promise.all([openBrowser(), dev.ready])
})

afterEach(async () => {
  for (const page of visited.splice(0)) await page.context().close()
  expect(complaints.splice(0)).toEqual([])
})

afterAll(async () => {
  await browser?.close()
  dev.child.kill('SIGTERM')
  await dev.exited
  rmSync(folder, { recursive: true, force: true })
})

/** In a browser of its own; what its pages complain of (scripts that fail, what a policy refuses) fails the test. */
async function open(address: string, { width = 1280, dark = false } = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: dark ? 'dark' : 'light' })
  const page = await context.newPage()
  visited.push(page)
  page.on('pageerror', (problem) => complaints.push(String(problem)))
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  await page.goto(address)
  return page
}

async function toProvider(options = {}): Promise<Page> {
  const page = await open(dev.welcome, options)
  await page.getByRole('link', { name: 'Sign in with the test provider' }).click()
  await page.getByRole('heading', { name: 'Sign in as' }).waitFor()
  return page
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor()
const shown = (page: Page, part: string) => page.locator(`[data-arrival="${part}"]`).innerText()
const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

/** The refresh tokens that went out and came back. */
async function refresh(page: Page): Promise<{ sent: string; got: string }> {
  const answered = page.waitForResponse((answer) => answer.url().includes('/token?') && answer.request().method() === 'POST')
  await page.getByRole('button', { name: 'Refresh the token' }).click()
  const answer = await answered
  await page.getByText('Refreshed at').waitFor()
  return { sent: answer.request().postDataJSON().refresh_token, got: (await answer.json()).refresh_token }
}

test('three clicks lead to a session, which can be refreshed', async () => {
  const page = await toProvider()
  expect(new URL(page.url()).origin).toBe(provider)
  await page.getByRole('button', { name: 'Ada Lovelace' }).click()
  await heading(page, 'You are signed in')
  expect(page.url()).toBe(`${dev.welcome.replace('127.0.0.1', 'localhost')}/signed-in`)
  expect(await shown(page, 'email')).toBe('ada@example.com')
  expect(await shown(page, 'name')).toBe('Ada Lovelace')
  expect(await shown(page, 'provider')).toBe('custom:test')
  expect(await shown(page, 'id')).toMatch(/^[0-9a-f-]{36}$/)

  const first = await refresh(page)
  const second = await refresh(page)
  expect(second.sent).toBe(first.got)
  expect(second.got).not.toBe(first.got)
  const token = await page.locator('[data-arrival="copy"]').getAttribute('data-copy')
  const user = await caller(dev.identity)('GET /user', { headers: { authorization: `Bearer ${token}` } })
  expect(user.json()).toMatchObject({
    id: await shown(page, 'id'),
    email: 'ada@example.com',
    user_metadata: { full_name: 'Ada Lovelace', avatar_url: `${provider}/pictures/AL.svg` },
    identities: [{ provider: 'custom:test' }],
  })
})

test('tokens do not stay in the address, and opening the page again shows nobody', async () => {
  const page = await toProvider()
  await page.getByRole('button', { name: 'Ada Lovelace' }).click()
  await heading(page, 'You are signed in')
  await page.reload()
  await heading(page, 'Nobody came back')
  expect(await page.getByRole('button', { name: 'Refresh the token' }).isVisible()).toBe(false)
})

test('the same person comes back to the same account, and somebody without a name is let in', async () => {
  const ids = []
  for (let times = 0; times < 2; times++) {
    const page = await toProvider()
    await page.getByRole('button', { name: 'nameless@example.com' }).click()
    await heading(page, 'You are signed in')
    expect(await shown(page, 'name')).toBe('none told')
    ids.push(await shown(page, 'id'))
  }
  expect(ids[0]).toBe(ids[1])
})

test('somebody whose address is not verified gets a mail, and its link lets them in', async () => {
  const page = await toProvider()
  await page.getByRole('button', { name: 'Ben Carter' }).click()
  await heading(page, 'You are not signed in')
  expect(await shown(page, 'sentence')).toContain('A confirmation email has been sent')
  await page.getByRole('link', { name: 'To the inbox' }).click()
  await page.locator('.messages li', { hasText: 'ben@example.com' }).locator('a').first().click()
  const link = await page.locator('.links a').first().getAttribute('href')
  await page.goto(link ?? '')
  await heading(page, 'You are signed in')
  expect(await shown(page, 'email')).toBe('ben@example.com')
})

test('anybody can be typed', async () => {
  const page = await toProvider()
  await page.getByLabel('Email').fill('cleo@example.com')
  await page.getByLabel('Name, if they tell one').fill('Cleo <b>Ång')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await heading(page, 'You are signed in')
  expect(await shown(page, 'email')).toBe('cleo@example.com')
  expect(await shown(page, 'name')).toBe('Cleo <b>Ång')
})

test('typed without the tick, the address is not believed', async () => {
  const page = await toProvider()
  await page.getByLabel('Email').fill('doubtful@example.com')
  await page.getByLabel('The address is verified').uncheck()
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await heading(page, 'You are not signed in')
})

test('cancelling shows the refusal in words', async () => {
  const page = await toProvider()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await heading(page, 'You are not signed in')
  expect(await shown(page, 'sentence')).toBe('The sign-in was cancelled.')
})

test('a token that is not good is told in words', async () => {
  const page = await open(`${dev.welcome}/signed-in#access_token=forged&refresh_token=none`)
  await heading(page, 'You are not signed in')
  expect(await shown(page, 'sentence')).toMatch(/^The identity service answers 40[13]: ./)
  // The browser itself complains of the answer.
  expect(complaints.splice(0)).toEqual([expect.stringContaining('Failed to load resource')])
})

test.each([{ width: 320 }, { width: 1280, dark: true }])('all pages fit a screen of $width pixels', async (options) => {
  const page = await toProvider(options)
  expect(await overflow(page)).toBeLessThanOrEqual(0)
  await page.getByRole('button', { name: 'Ada Lovelace' }).click()
  await heading(page, 'You are signed in')
  expect(await overflow(page)).toBeLessThanOrEqual(0)
})

test('the pages ask nobody for anything but this machine', async () => {
  const page = await open('about:blank')
  const asked = new Set<string>()
  page.on('request', (request) => asked.add(new URL(request.url()).hostname))
  await page.goto(dev.welcome)
  await page.getByRole('link', { name: 'Sign in with the test provider' }).click()
  await page.getByRole('button', { name: 'Ada Lovelace' }).click()
  await heading(page, 'You are signed in')
  expect([...asked].toSorted()).toEqual(['127.0.0.1', 'localhost'])
})

test('the link in the mail of a sign-up leads to a page that tells who is signed in', async () => {
  const email = 'newcomer@example.com'
  await fetch(`${dev.identity}/signup`, { method: 'POST', body: JSON.stringify({ email, password: 'correct horse' }) })
  const page = await open(`${dev.welcome}/inbox`)
  const row = page.locator('li', { hasText: email })
  const link = await row.getByRole('link', { name: /Open link/ }).getAttribute('href')
  await page.goto(link ?? '')
  await page.getByRole('heading', { name: 'You are signed in' }).waitFor()
  await page.getByText(email).waitFor()
})

test('a stop ends the provider with everything else', async () => {
  expect((await fetch(provider)).status).toBe(200)
  dev.child.kill('SIGTERM')
  expect(await dev.exited).toBe(0)
  await expect(fetch(provider)).rejects.toThrow()
})
