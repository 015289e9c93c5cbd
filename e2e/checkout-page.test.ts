import { startHttpFake } from '@tollgate/kit/http-fake'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { bank, type Counter, openCounter, typeCard, violations } from './checkout-page.ts'
import { openShop } from './payments-service.ts'

let counter: Counter
let site: Awaited<ReturnType<typeof startHttpFake>>

beforeAll(async () => {
  counter = await openCounter()
  site = await startHttpFake({
    'GET /done': { headers: { 'content-type': 'text/html' }, text: '<link rel="icon" href="data:,"><h1>Thank you</h1>' },
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

const payButton = (page: Page) => page.locator('#pay')

async function expectReceipt(page: Page): Promise<string> {
  await page.getByRole('heading', { name: 'Paid' }).waitFor()
  return (await page.locator('[data-of=id]').textContent()) ?? ''
}

test('a customer pays by link: the bank asks, the receipt tells, the shop finds its reference', async () => {
  const page = await counter.open({ value: '12.34', reference: 'A-17', text: 'Two cups' })
  await typeCard(page)
  expect(await payButton(page).textContent()).toBe('Pay €12.34')
  await payButton(page).click()
  await bank(page).getByRole('button', { name: 'Confirm' }).click()
  const id = await expectReceipt(page)
  expect(await counter.paid()).toMatchObject([
    { id, state: 'approved', amount: 1234, currency: 'EUR', tds: 'full', custom: { reference: 'A-17' } },
  ])
  expect(await page.locator('#receipt').innerText()).toMatch(/€12\.34[\s\S]*Coffee & John[\s\S]*2030[\s\S]*•••• 0000[\s\S]*A-17/)
})

test('card number and security code go to the vault and nowhere else, and leave nothing behind', async () => {
  const page = await counter.open({ value: '5' })
  const sent: { path: string; body: string }[] = []
  page.on('request', (request) =>
    sent.push({ path: new URL(request.url()).pathname, body: request.url() + (request.postData() ?? '') }),
  )
  await typeCard(page, { number: '4012111111111111', code: '987' })
  await page.locator('#outcome').selectOption('testApprovedFrictionless')
  await payButton(page).click()
  await expectReceipt(page)
  const withNumber = sent.filter(({ body }) => body.includes('4012111111111111') || body.includes('"987"'))
  expect(withNumber.map(({ path }) => path)).toEqual(['/vault', '/vault'])
  expect(sent.filter(({ path }) => path === '/payments').length).toBeGreaterThan(1)
  const kept = await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }) + location.href + document.cookie)
  expect(kept).not.toContain('4012111111111111')
  // By itself: ids have digits, too.
  expect(kept).not.toMatch(/(?<![0-9a-z])987(?![0-9a-z])/i)
  expect(await page.locator('#number').inputValue()).toBe('')
  expect(await page.locator('#code').inputValue()).toBe('')
  expect(new Set(sent.map(({ body }) => new URL(body.replace(/[{].*$/s, '')).origin))).toEqual(new Set([counter.service.origin]))
})

test('who refuses at the bank has not paid, and can try again with the same card', async () => {
  const page = await counter.open({ value: '5' })
  await typeCard(page)
  await payButton(page).click()
  await bank(page).getByRole('button', { name: 'Refuse' }).click()
  const failure = page.getByRole('alert')
  await failure.waitFor()
  expect(await failure.innerText()).toBe('Your bank could not confirm that it is you.\n\nNo money was taken.')
  expect((await counter.paid()).map(({ state }) => state)).toEqual(['declined'])
  expect(await page.locator('#number').getAttribute('placeholder')).toBe('•••• 0000')
  await page.locator('#code').fill('123')
  await payButton(page).click()
  await bank(page).getByRole('button', { name: 'Confirm' }).click()
  await expectReceipt(page)
  expect((await counter.paid()).map(({ state }) => state)).toEqual(['declined', 'approved'])
})

test.each(['click', 'Escape'])('who leaves the bank alone (%s) has not paid', async (way) => {
  const page = await counter.open({ value: '5' })
  await typeCard(page)
  await payButton(page).click()
  await bank(page).getByRole('button', { name: 'Confirm' }).waitFor()
  if (way === 'click') await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  else await page.keyboard.press('Escape')
  await page.getByRole('alert').waitFor()
  expect(await page.getByRole('alert').innerText()).toBe('You cancelled the payment.\n\nNo money was taken.')
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(await counter.paid()).toEqual([])
})

test('every outcome that a tester can choose comes out', async () => {
  const sentences: Record<string, string> = {
    testInsufficientFunds: 'There is not enough money on this card.',
    testDeclined: 'Your bank declined the payment.',
    testAmountLimit: 'The amount is over the limit of this card.',
    testCardExpired: 'This card has expired.',
    testCardDisabled: 'This card cannot be used for such payments.',
    testCardLost: 'This card has been reported as lost.',
    testCodeWrong: 'The security code is wrong.',
    testNumberInvalid: 'There is no such card.',
    testSchemeUnsupported: 'Only Visa and Mastercard are accepted.',
    testAuthenticationUnavailable: 'Your bank cannot confirm payments at the moment.',
  }
  const page = await counter.open({ value: '5' })
  for (const [outcome, sentence] of Object.entries(sentences)) {
    await page.locator('#outcome').selectOption(outcome)
    await page.getByRole('button', { name: 'Fill in a test card' }).click()
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('#failure').innerText(), { timeout: 15_000 }).toContain(sentence)
    expect(await page.locator('#failure').innerText()).toContain('No money was taken.')
  }
  await page.locator('#outcome').selectOption('testAttempted')
  await page.getByRole('button', { name: 'Fill in a test card' }).click()
  await payButton(page).click()
  await expectReceipt(page)
  expect((await counter.paid()).filter(({ state }) => state === 'approved')).toMatchObject([{ tds: 'attempt' }])
  const listed = await page
    .locator('#outcome option')
    .evaluateAll((options) => options.map((each) => (each as HTMLOptionElement).value))
  const rest = ['testApproved', 'testApprovedFrictionless', 'testAttempted', 'testAuthenticationRejected']
  expect(new Set(listed)).toEqual(new Set([...Object.keys(sentences), ...rest]))
}, 60_000)

test('where the bank will not have it, confirming does not help', async () => {
  const page = await counter.open({ value: '5' })
  await typeCard(page)
  await page.locator('#outcome').selectOption('testAuthenticationRejected')
  await payButton(page).click()
  await bank(page).getByRole('button', { name: 'Confirm' }).click()
  await page.getByRole('alert').waitFor()
  expect(await page.getByRole('alert').innerText()).toContain('Your bank could not confirm that it is you.')
  expect((await counter.paid()).map(({ state }) => state)).toEqual(['declined'])
})

test('a double click and a second Enter pay once', async () => {
  const page = await counter.open({ value: '5' })
  await typeCard(page)
  await page.locator('#outcome').selectOption('testApprovedFrictionless')
  await payButton(page).dblclick()
  await page.keyboard.press('Enter')
  await expectReceipt(page)
  expect(await counter.paid()).toHaveLength(1)
})

test('a reload in the middle goes on with the same payment, and one after it shows the receipt', async () => {
  const page = await counter.open({ value: '5' })
  await typeCard(page)
  await payButton(page).click()
  await bank(page).getByRole('button', { name: 'Confirm' }).waitFor()
  await page.reload()
  await bank(page).getByRole('button', { name: 'Confirm' }).click()
  const id = await expectReceipt(page)
  await page.reload()
  expect(await expectReceipt(page)).toBe(id)
  expect(await page.locator('#paid-more').innerText()).toBe('This payment has been made already.')
  expect(await page.getByRole('button', { name: 'New payment' }).count()).toBe(0)
  expect(await counter.paid()).toMatchObject([{ id }])
})

test('a reload while the money is being taken pays once', async () => {
  const page = await counter.open({ value: '5' })
  await typeCard(page)
  await page.locator('#outcome').selectOption('testApprovedFrictionless')
  const taken = Promise.withResolvers<void>()
  await page.route('**/payments/challenges/authorize', async (route) => {
    await route.fetch()
    taken.resolve()
    await route.abort()
  })
  await payButton(page).click()
  await taken.promise
  await page.unroute('**/payments/challenges/authorize')
  await page.reload()
  const id = await expectReceipt(page)
  expect(await counter.paid()).toMatchObject([{ id, state: 'approved' }])
})

test('when nobody can say whether it went through, the payer is told so, and the same payment is asked about again', async () => {
  const page = await counter.open({ value: '5' })
  await page.clock.install({ time: counter.service.now() })
  await typeCard(page)
  await page.locator('#outcome').selectOption('testApprovedFrictionless')
  let asked = 0
  await page.route('**/payments/challenges/authorize', async (route) => {
    asked++
    await route.fetch()
    await route.abort()
  })
  await payButton(page).click()
  const heading = page.getByRole('heading', { name: 'We do not know yet' })
  while (!(await heading.isVisible())) await page.clock.runFor(1000)
  expect(asked).toBe(10)
  expect(await page.locator('.unknown').innerText()).toContain('Do not pay again before asking Coffee & John.')
  expect(await payButton(page).isVisible()).toBe(false)
  await page.unroute('**/payments/challenges/authorize')
  await page.getByRole('button', { name: 'Try again' }).click()
  const id = await expectReceipt(page)
  expect(await counter.paid()).toMatchObject([{ id, state: 'approved' }])
})

test('lost answers are asked for again, and the payer is told to wait', async () => {
  const page = await counter.open({ value: '5' })
  await typeCard(page)
  await page.locator('#outcome').selectOption('testApprovedFrictionless')
  const lost = new Map<string, number>()
  await page.route(/\/(vault|payments)/, async (route) => {
    const path = new URL(route.request().url()).pathname
    const times = lost.get(path) ?? 0
    lost.set(path, times + 1)
    if (times > 0) return route.continue()
    if (path === '/vault') return route.fulfill({ status: 503, body: 'Busy', headers: { 'retry-after': '0' } })
    await route.fetch()
    await route.abort()
  })
  const seen: string[] = []
  await page.exposeFunction('seen', (text: string) => seen.push(text))
  await page.evaluate(() => {
    const step = document.getElementById('step') as HTMLElement
    new MutationObserver(() => (window as unknown as { seen(text: string): void }).seen(step.innerText)).observe(step, {
      childList: true,
    })
  })
  await payButton(page).click()
  await expectReceipt(page)
  expect(seen).toContain('No connection. Trying again …')
  expect(await counter.paid()).toHaveLength(1)
})

test('the payer is taken back to the shop, and the back button shows the receipt instead of another payment', async () => {
  const page = await counter.open({ value: '5', redirect: `${site.origin}/done?order=7#end` })
  await typeCard(page)
  await page.locator('#outcome').selectOption('testApprovedFrictionless')
  await payButton(page).click()
  const id = await expectReceipt(page)
  expect(await page.locator('#returning').innerText()).toBe('Taking you back to Coffee & John.')
  await page.getByRole('heading', { name: 'Thank you' }).waitFor()
  expect(page.url()).toBe(`${site.origin}/done?order=7&transactionId=${id}#end`)
  expect(site.requests.findLast(({ path }) => path === '/done')?.headers.referer).toBeUndefined()
  await page.goBack()
  expect(await expectReceipt(page)).toBe(id)
  expect(await page.getByRole('link', { name: 'Go back now' }).getAttribute('href')).toContain(`transactionId=${id}`)
  expect(await counter.paid()).toHaveLength(1)
})

test('whoever has no amount in their link types one, as people of their country do, and starts over afterwards', async () => {
  const page = await counter.open({ locale: 'de_DE' })
  const amount = page.locator('#own-amount')
  await page.keyboard.type('abc')
  await page.keyboard.press('Enter')
  expect(await amount.getAttribute('aria-invalid')).toBe('true')
  expect(await page.locator('#own-amount-error').innerText()).toContain('12,50')
  await amount.fill('1.234,5')
  await page.keyboard.press('Enter')
  expect(await payButton(page).innerText()).toMatch(/^1\.234,50\s€ bezahlen$/)
  await page.locator('#change-amount').click()
  await amount.fill('7,05')
  await page.keyboard.press('Enter')
  await typeCard(page)
  await page.locator('#outcome').selectOption('testApprovedFrictionless')
  await payButton(page).click()
  await page.locator('#again').click()
  await amount.waitFor()
  expect(await amount.inputValue()).toBe('')
  expect(await counter.paid()).toMatchObject([{ amount: 705, currency: 'EUR' }])
})

test.each([
  ['fr', '1234.5', 'Payer 1 234,50 €'],
  ['da', '1234.5', '1.234,50 €'],
  ['en_US', '1234.5', 'Pay €1,234.50'],
])('in %s the button says %s as %s', async (locale, value, said) => {
  const page = await counter.open({ value, locale })
  expect((await payButton(page).innerText()).replace(/\s/g, ' ')).toContain(said.replace(/\s/g, ' '))
  expect(await page.locator('html').getAttribute('lang')).toBe(locale.slice(0, 2))
})

test('a subscription is paid with what it takes to charge again', async () => {
  const page = await counter.open({ value: '5', recurring: 'y' })
  expect(await page.locator('#agreement').innerText()).toContain('charge this card again')
  await typeCard(page)
  await page.locator('#outcome').selectOption('testApprovedFrictionless')
  await payButton(page).click()
  await expectReceipt(page)
  expect(
    await counter.service.app
      .db`select 1 from pay.agreements where merchant_id = ${counter.shop.id} and transaction_id = ${(await counter.paid())[0]?.id ?? ''}`,
  ).toHaveLength(1)
})

test('where payments are real, check digits count, nothing is a test, and a refusal is told', async () => {
  const { key } = await openShop(counter.service, { test: false })
  const page = await counter.visit(`${counter.service.origin}/pos?key=${key}&value=5`)
  expect(await page.locator('.test').count()).toBe(0)
  await typeCard(page, { number: '4111111111111112' })
  await payButton(page).click()
  expect(await page.locator('#number-error').innerText()).toBe('This is not a card number. Check the digits.')
  const sent = page.waitForRequest('**/payments')
  await page.locator('#number').fill('4111111111111111')
  await payButton(page).click()
  expect((await sent).postDataJSON()).not.toHaveProperty('test')
  // Nobody is configured here who could take real money.
  await page.getByRole('alert').waitFor()
  expect(await page.getByRole('alert').innerText()).toContain('No money was taken.')
})

test('the keyboard does it all, and the number is written in groups while it is typed', async () => {
  const page = await counter.open({ value: '5' })
  await page.locator('#number').focus()
  await page.keyboard.type('4100000000000000')
  expect(await page.locator('#number').inputValue()).toBe('4100 0000 0000 0000')
  for (let press = 0; press < 10; press++) await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Backspace')
  await page.keyboard.type('0')
  expect(await page.locator('#number').inputValue()).toBe('4100 0000 0000 0000')
  await page.keyboard.press('Tab')
  await page.keyboard.type('435')
  expect(await page.locator('#expiry').inputValue()).toBe('04 / 35')
  await page.keyboard.press('Tab')
  await page.keyboard.type('123')
  await page.keyboard.press('Enter')
  const confirm = bank(page).getByRole('button', { name: 'Confirm' })
  await confirm.waitFor()
  expect(await page.evaluate(() => document.activeElement?.closest('dialog')?.id)).toBe('challenge')
  await confirm.focus()
  await page.keyboard.press('Enter')
  await expectReceipt(page)
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('paid')
})

test('a sentence that appears does not take the button away from under the finger', async () => {
  const page = await counter.open({ value: '5' })
  await page.locator('#number').fill('4100 00')
  await payButton(page).click()
  expect(await page.locator('#expiry-error').innerText()).toBe('Enter the month and year in which the card expires.')
  expect(await page.locator('#number-error').innerText()).toBe('The card number is too short.')
})

test('what is wrong is said beside each field, the first of them has the focus, and typing takes it back', async () => {
  const page = await counter.open({ value: '5' })
  await payButton(page).click()
  for (const [id, said] of [
    ['number', 'Enter the number of the card.'],
    ['expiry', 'Enter the month and year in which the card expires.'],
    ['code', 'Enter the security code.'],
  ]) {
    expect(await page.locator(`#${id}`).getAttribute('aria-invalid')).toBe('true')
    expect(await page.locator(`#${id}-error`).innerText()).toBe(said)
    expect(await page.locator(`#${id}`).getAttribute('aria-describedby')).toContain(`${id}-error`)
  }
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('number')
  await page.keyboard.type('3782')
  expect(await page.locator('#number').getAttribute('aria-invalid')).toBeNull()
  await page.keyboard.press('Tab')
  expect(await page.locator('#number-error').innerText()).toBe('Only Visa and Mastercard are accepted.')
  await page.keyboard.type('1/20')
  await page.keyboard.press('Tab')
  expect(await page.locator('#expiry-error').innerText()).toBe('This card has expired.')
  expect(await counter.paid()).toEqual([])
})

test('on a slow phone with a poor connection it can be typed into at once', async () => {
  const page = await counter.open({ value: '5' })
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Network.enable')
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true })
  const speed = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 90_000 }
  await devtools.send('Network.emulateNetworkConditions', speed)
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  const address = page.url()
  const started = performance.now()
  await page.goto(address, { waitUntil: 'commit' })
  await page.locator('#pay:enabled').waitFor()
  // 0.6 to 0.9 s on a machine that does nothing else; here other tests run beside it.
  expect(performance.now() - started).toBeLessThan(2500)
})

test('without scripts there is an explanation, and no form', async () => {
  const page = await counter.open({ value: '5' }, { javaScriptEnabled: false })
  expect(await page.getByRole('heading', { name: 'JavaScript is switched off' }).isVisible()).toBe(true)
  expect(await page.locator('#number').isVisible()).toBe(false)
  expect(await page.locator('[name]:not(meta)').count()).toBe(0)
})

test('a link that leads to a script afterwards opens nothing', async () => {
  const page = await counter.open({ value: '5', redirect: 'javascript:alert(1)' })
  expect(await page.getByRole('heading', { name: 'This payment link does not work' }).isVisible()).toBe(true)
  expect(await page.locator('form, script').count()).toBe(0)
})

const fits = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth)

test.each([
  { width: 1280, dark: false },
  { width: 320, dark: true },
])(
  'every screen fits $width pixels, and axe finds nothing (dark: $dark)',
  async ({ width, dark }) => {
    const options = { viewport: { width, height: 700 }, colorScheme: dark ? ('dark' as const) : ('light' as const) }
    const look = async (page: Page) => expect([await fits(page), await violations(page)]).toEqual([true, []])
    await look(await counter.open({}, options))
    await look(await counter.open({ value: 'x' }, options))
    const page = await counter.open(
      { value: '1234567.89', text: 'a'.repeat(300), reference: 'b'.repeat(200), recurring: 'y' },
      options,
    )
    await look(page)
    await payButton(page).click()
    await look(page)
    await typeCard(page)
    await payButton(page).click()
    await bank(page).getByRole('button', { name: 'Refuse' }).click()
    await page.getByRole('alert').waitFor()
    await look(page)
    await page.locator('#code').fill('123')
    await payButton(page).click()
    await bank(page).getByRole('button', { name: 'Confirm' }).waitFor()
    await look(page)
    await bank(page).getByRole('button', { name: 'Confirm' }).click()
    await expectReceipt(page)
    await page.waitForFunction(() => document.getAnimations().every(({ playState }) => playState === 'finished'))
    await look(page)
  },
  60_000,
)

test('who takes too long at the bank begins anew, and is told that nothing was taken', async () => {
  const page = await counter.open({ value: '5' })
  await typeCard(page)
  await payButton(page).click()
  const confirm = bank(page).getByRole('button', { name: 'Confirm' })
  await confirm.waitFor()
  counter.service.now.advance(counter.service.app.config.customers.patience + 1)
  await confirm.click()
  await page.getByRole('alert').waitFor()
  expect(await page.getByRole('alert').innerText()).toMatch(/^That took too long\.[\s\S]*No money was taken\.$/)
  expect(await page.locator('#number').getAttribute('placeholder')).toBe('')
  await page.reload()
  expect(await payButton(page).isVisible()).toBe(true)
  expect(await counter.paid()).toEqual([])
})
