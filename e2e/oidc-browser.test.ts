import { startHttpFake } from '@tollgate/kit/http-fake'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startIdentity } from '../packages/identity/src/testing.ts'
import { openBrowser } from './browser.ts'
import { startIssuer } from './oidc-issuer.ts'

let browser: Browser
let site: Awaited<ReturnType<typeof startHttpFake>>
/** What stands before the service, because its address is known before the service starts. */
let front: Awaited<ReturnType<typeof startHttpFake>>
let issuer: Awaited<ReturnType<typeof startIssuer>>
let service: Awaited<ReturnType<typeof startIdentity>>

beforeAll(async () => {
  browser = await openBrowser()
  front = await startHttpFake(async ({ method, path, query }) => {
    const { status, headers, text } = await service.call(`${method} ${path}?${new URLSearchParams(query)}`)
    const told = Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
    return { status, text, headers: Object.fromEntries(told.filter(([name]) => !/^(connection|transfer-encoding)$/.test(name))) }
  })
  const html = { 'content-type': 'text/html' }
  const away = `${front.origin}/authorize?provider=custom:acme`
  site = await startHttpFake(({ path }) => ({
    headers: html,
    text: path === '/in' ? '<h1>Inside</h1>' : `<a href="${away}&amp;redirect_to=${site.origin}/in">Sign in with Acme</a>`,
  }))
  issuer = await startIssuer({ redirectUri: `${front.origin}/callback` })
  const acme = { issuer: issuer.origin, client_id: 'acme', client_secret: 'the secret of acme' }
  service = await startIdentity({
    AUTH_SITE_URL: site.origin,
    AUTH_API_EXTERNAL_URL: front.origin,
    AUTH_EXTERNAL_CUSTOM_PROVIDERS: JSON.stringify([{ identifier: 'custom:acme', ...acme }]),
  })
  service.now.advance((Date.now() - service.now().getTime()) / 1000)
})
afterAll(async () => {
  await browser?.close()
  await service?.stop()
  await Promise.all([site?.close(), front?.close(), issuer?.close()])
})

test('somebody goes from a page to the provider’s form and comes back with a session, which no server is told', async () => {
  const ann = issuer.enrol()
  const page = await browser.newPage()
  await page.goto(site.origin)
  await page.getByRole('link', { name: 'Sign in with Acme' }).click()
  await page.getByLabel('Account').fill(ann.id)
  expect(new URL(page.url()).origin).toBe(issuer.origin)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Inside' }).waitFor()

  const here = new URL(page.url())
  expect(here.origin + here.pathname + here.search).toBe(`${site.origin}/in`)
  const { access_token, provider } = Object.fromEntries(new URLSearchParams(here.hash.slice(1)))
  expect(provider).toBe('custom:acme')
  const user = await service.call('GET /user', { headers: { authorization: `Bearer ${access_token}` } })
  expect(user.json()).toMatchObject({ email: ann.email })
  expect(JSON.stringify([site.requests, issuer.paths])).not.toContain(String(access_token))
})

test('somebody who changes their mind at the provider is told so where they were going', async () => {
  const page = await browser.newPage()
  await page.goto(site.origin)
  await page.getByRole('link', { name: 'Sign in with Acme' }).click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('heading', { name: 'Inside' }).waitFor()
  expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied')
})
