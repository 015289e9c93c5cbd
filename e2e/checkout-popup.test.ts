import { startHttpFake } from '@tollgate/kit/http-fake'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { bank, type Counter, openCounter, typeCard, violations } from './checkout-page.ts'

/** What is inside the popup's frame, in the page of a shop that speaks to it as the popup does. */
let counter: Counter
let site: Awaited<ReturnType<typeof startHttpFake>>

beforeAll(async () => {
  counter = await openCounter()
  site = await startHttpFake({
    'GET /shop': ({ query }) => ({ headers: { 'content-type': 'text/html' }, text: shopPage(query) }),
  })
})
afterAll(async () => {
  await counter?.stop()
  await site?.close()
})
afterEach(async () => {
  await counter.closePages()
  expect(counter.complaints.splice(0)).toEqual([])
})

function shopPage({ frame = '', config = '' }: Record<string, string>): string {
  const script = `window.told = []
addEventListener('message', (event) => {
  told.push(event.data)
  if (event.data.tollgate === 'ready') event.source.postMessage({ tollgate: 'pay', config: ${config} }, ${JSON.stringify(new URL(frame).origin)})
})`
  return `<!doctype html><link rel="icon" href="data:,"><title>Shop</title><script>${script}</script>
<iframe title="Pay" src="${frame.replaceAll('&', '&amp;')}" style="position:fixed;inset:0;width:100%;height:100%;border:0"></iframe>`
}

async function openPopup(config: object, key = counter.shop.key) {
  const frame = `${counter.service.origin}/pos/popup?key=${key}`
  const page = await counter.visit(`${site.origin}/shop?${new URLSearchParams({ frame, config: JSON.stringify(config) })}`)
  const told = () => page.evaluate(() => (window as unknown as { told: { tollgate: string }[] }).told)
  await expect.poll(async () => (await told())[0]).toEqual({ tollgate: 'ready' })
  return { page, told, inside: page.frames()[1] as NonNullable<ReturnType<typeof page.frame>> }
}

const euros = (value: number, exponent = 2) => ({ currency: 'EUR', exponent, value })

test('a popup takes a payment, with what the shop asks besides, and tells the page around it', async () => {
  const config = {
    ...{ test: true, amount: euros(199, 1), title: 'Coffee', description: 'Half a kilo', text: 'Beans', custom: { order: 7 } },
    fields: ['note', { name: 'email', label: 'Your mail', type: 'email', required: true }],
    unplanned: { merchant: true },
  }
  const { inside, told } = await openPopup(config)
  await inside.getByRole('heading', { name: 'Coffee' }).waitFor()
  expect(await violations(inside)).toEqual([])
  expect(await inside.locator('#pay').innerText()).toBe('Pay €19.90')
  await typeCard(inside)
  await inside.locator('#pay').click()
  expect(await inside.locator('#more-1-error').innerText()).toBe('Please fill this in.')
  await inside.getByLabel('Your mail').fill('a@b.test')
  await inside.locator('#pay').click()
  await bank(inside).getByRole('button', { name: 'Confirm' }).click()
  const custom = { order: 7, note: '', email: 'a@b.test' }
  await expect
    .poll(told, { timeout: 15_000 })
    .toMatchObject([{}, { tollgate: 'paid', result: { transaction: { id: expect.any(String) }, custom } }])
  expect(await counter.paid()).toMatchObject([{ amount: 1990, custom, state: 'approved' }])
})

test('a shop whose page is loaded anew in the middle gets the same payment, not another', async () => {
  const { page, told, inside } = await openPopup({ test: true, amount: euros(700) })
  await typeCard(inside)
  await inside.locator('#pay').click()
  await bank(inside).getByRole('button', { name: 'Confirm' }).waitFor()
  await page.reload()
  const anew = () => page.frames()[1] as typeof inside
  await expect.poll(() => page.frames().length).toBeGreaterThan(1)
  await page.frameLocator('iframe').frameLocator('#challenge iframe').getByRole('button', { name: 'Confirm' }).click()
  await expect.poll(told, { timeout: 15_000 }).toMatchObject([{}, { tollgate: 'paid' }])
  expect(await counter.paid()).toMatchObject([{ amount: 700 }])
  await page.reload()
  await anew().locator('#number').waitFor()
})

test('in a popup the payer may choose the amount, and may be told what is to come', async () => {
  const plan = [{ amount: euros(500), repeat: { first: '2030-02-01T00:00:00Z', count: 2, interval: { unit: 'month' } } }]
  const { inside, told } = await openPopup({
    test: { tds: { challenge: false } },
    plan,
    fields: [{ name: 'tip', type: 'amount' }],
  })
  await inside.getByLabel('tip').fill('3,5')
  expect(await inside.locator('#pay').innerText()).toBe('Pay €3.50')
  expect(await inside.locator('#plan li').allInnerTexts()).toEqual(['1 Feb 2030\n€5.00', '1 Mar 2030\n€5.00'])
  await typeCard(inside)
  await inside.locator('#pay').click()
  await expect.poll(told, { timeout: 15_000 }).toMatchObject([{}, { tollgate: 'paid' }])
  expect(await counter.paid()).toMatchObject([{ amount: 350, custom: { tip: '3.50' } }])
})

test('a popup that is closed says so, with the button and with Escape', async () => {
  const one = await openPopup({ test: true, amount: euros(1) })
  await one.inside.getByRole('button', { name: 'Close' }).click()
  await expect.poll(one.told).toEqual([{ tollgate: 'ready' }, { tollgate: 'closed' }])
  const other = await openPopup({ test: true, amount: euros(1) })
  await other.inside.locator('#number').press('Escape')
  await expect.poll(other.told).toEqual([{ tollgate: 'ready' }, { tollgate: 'closed' }])
})

test.each([
  [{ amount: euros(1) }, undefined, 'test merchant'],
  [{ test: true }, undefined, 'At least one of amount'],
  [{ test: true, amount: euros(1) }, 'nobody', 'names no merchant'],
])('a popup that cannot be used tells whoever wrote the shop: %#', async (config, key, message) => {
  const { told } = await openPopup(config, key)
  await expect.poll(told).toEqual([{ tollgate: 'ready' }, { tollgate: 'failed', message: expect.stringContaining(message) }])
})

test('the page of a link is not shown inside another', async () => {
  const frame = `${counter.service.origin}/pos?key=${counter.shop.key}&test=1&value=5`
  const page = await counter.visit(`${site.origin}/shop?${new URLSearchParams({ frame, config: '{}' })}`)
  await expect.poll(() => counter.complaints.join()).toContain('frame-ancestors')
  counter.complaints.length = 0
  expect(await page.frameLocator('iframe').locator('#number').count()).toBe(0)
})
