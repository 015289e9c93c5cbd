import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openBrowser } from './browser.ts'
import { amount, openPopupShop, type PopupShop, type Visit, visitShop } from './popup-shop.ts'

let browser: Browser
let places: PopupShop
beforeAll(async () => {
  ;[browser, places] = await Promise.all([openBrowser(), openPopupShop()])
})
afterAll(async () => {
  await browser?.close()
  await places?.close()
})

const complaints: string[][] = []
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
  expect(complaints.splice(0).flat()).toEqual([])
})

async function visit(path = '/', options?: Parameters<typeof visitShop>[2]): Promise<Visit> {
  const here = await visitShop(browser, places.shop.origin + path, options)
  complaints.push(here.complaints)
  return here
}

const paid = { transaction: { id: '6af992103534f5c907ad043b' }, custom: { order: 7, note: 'Ring twice' } }
const heard = async (here: Visit) => (await here.frame()).evaluate(() => (window as unknown as { heard: object[] }).heard)
const overlays = (here: Visit) => here.page.locator('dialog > iframe').count()

test('the frame is told what is to be paid, by the shop alone and after it said that it is there', async () => {
  const here = await visit()
  const payment = { amount, title: 'Fern', locale: 'da_DK', custom: { order: 7 }, fields: ['note'], test: true }
  await here.buy(payment)
  const told = { tollgate: 'pay', config: { ...payment, key: 'the-key' } }
  await expect.poll(() => heard(here)).toEqual([{ origin: places.shop.origin, fromParent: true, data: told }])
  expect((await here.frame()).url()).toBe(`${places.service.origin}/pos/popup?key=the-key&locale=da_DK`)
  const frame = here.page.locator('dialog > iframe')
  expect([await frame.getAttribute('allow'), await frame.getAttribute('title')]).toEqual(['payment', 'Fern'])
})

test('a frame that was loaded anew is told again', async () => {
  const here = await visit()
  await here.buy()
  await (await here.frame()).evaluate(() => location.reload())
  await expect.poll(() => heard(here)).toMatchObject([{ data: { tollgate: 'pay' } }])
  expect(await here.outcomes()).toEqual([])
})

test.each([
  ['a payment', { tollgate: 'paid', result: paid }, [null, paid]],
  ['a customer who closes it', { tollgate: 'closed' }, ['closed', undefined]],
  ['what the frame cannot use', { tollgate: 'failed', message: 'plan: too long' }, ['Error: plan: too long', undefined]],
])('%s is told to the callback once, when the popup is gone', async (_, message, outcome) => {
  const here = await visit()
  await here.buy()
  await here.say(message, message, { tollgate: 'closed' }, { tollgate: 'paid', result: paid })
  await expect.poll(() => here.outcomes()).toEqual([outcome])
  expect(await overlays(here)).toBe(0)
  await here.buy()
  expect(await overlays(here)).toBe(1)
  expect(await here.outcomes()).toEqual([outcome])
})

test('a second popup takes the place of the first', async () => {
  const here = await visit()
  await here.buy({ amount, title: 'First' })
  await here.frame()
  await here.page.evaluate(() => document.getElementById('buy')?.click())
  expect(await overlays(here)).toBe(1)
  expect(await here.outcomes()).toEqual([['superseded', undefined]])
  await here.say({ tollgate: 'paid', result: paid })
  await expect
    .poll(() => here.outcomes())
    .toEqual([
      ['superseded', undefined],
      [null, paid],
    ])
})

test('a popup of another copy of the script is superseded as well', async () => {
  const here = await visit('/twice')
  const open = (name: string) =>
    here.page.evaluate(
      ([which, payment]) => {
        const { [which as 'Paylike']: create, outcomes } = window as unknown as {
          Paylike(options: object): { pay(payment: unknown, callback: (err: unknown) => void): void }
          outcomes: unknown[]
        }
        create({ key: 'the-key' }).pay(payment, (err) => outcomes.push([which, err]))
      },
      [name, { amount }] as const,
    )
  await open('FirstPaylike')
  await open('Paylike')
  expect(await overlays(here)).toBe(1)
  expect(await here.outcomes()).toEqual([['FirstPaylike', 'superseded']])
})

test('without a callback there is a promise', async () => {
  const here = await visit()
  const outcome = here.page.evaluate(
    (payment) => {
      const { Paylike } = window as unknown as { Paylike(options: object): { pay(payment: object): Promise<unknown> } }
      return Paylike({ key: 'the-key' }).pay(payment)
    },
    { amount },
  )
  await here.say({ tollgate: 'paid', result: paid })
  expect(await outcome).toEqual(paid)
})

test('what a callback throws is an error of the shop’s page', async () => {
  const here = await visit()
  await here.page.evaluate(
    (payment) => {
      const { Paylike } = window as unknown as { Paylike(options: object): { pay(payment: object, callback: () => void): void } }
      Paylike({ key: 'the-key' }).pay(payment, () => {
        throw new Error('no such basket')
      })
    },
    { amount },
  )
  await here.say({ tollgate: 'closed' })
  await expect.poll(() => here.complaints.splice(0)).toEqual(['Error: no such basket'])
  expect(await overlays(here)).toBe(0)
})

test('what cannot be paid opens no frame', async () => {
  const here = await visit()
  await here.buy({ title: 'Nothing' })
  expect(await here.outcomes()).toEqual([
    ['Error: amount: missing, and so are plan and unplanned; give at least one of them', undefined],
  ])
  expect(await overlays(here)).toBe(0)
})

test.each(['silent', 'hangs'])('a frame that says nothing (%s) is given up after fifteen seconds', async (key) => {
  const here = await visit('/', { still: true })
  await here.buy({ amount }, key)
  expect(await overlays(here)).toBe(1)
  await here.page.clock.fastForward(14_900)
  expect(await here.outcomes()).toEqual([])
  await here.page.clock.fastForward(200)
  expect(await here.outcomes()).toEqual([[`Error: The popup did not load from ${places.service.origin}`, undefined]])
  expect(await overlays(here)).toBe(0)
})

test('a frame that is there is given all the time that the customer takes', async () => {
  const here = await visit('/', { still: true })
  await here.buy()
  await expect.poll(() => heard(here)).toHaveLength(1)
  await here.page.clock.fastForward(3_600_000)
  expect(await here.outcomes()).toEqual([])
  expect(await overlays(here)).toBe(1)
})

test('a page whose policy keeps the frame out is told at once what to add', async () => {
  const here = await visit('/unframed')
  await here.buy()
  await expect
    .poll(() => here.outcomes())
    .toEqual([[expect.stringContaining(`add frame-src ${places.service.origin} to it`), undefined]])
  expect(here.complaints.splice(0).join()).toContain('Content Security Policy')
})

test('the service is where the script came from, and anything before its name stays', async () => {
  const here = await visit('/prefix')
  await here.buy()
  expect((await here.frame()).url()).toBe(`${places.service.origin}/behind/a/prefix/pos/popup?key=the-key`)
})

test('messages of other windows do not count, whatever they say', async () => {
  const here = await visit()
  await here.buy()
  await here.frame()
  const forged = { tollgate: 'paid', result: { transaction: { id: 'forged' } } }
  // The page itself, a frame of its own, and another frame of the service.
  await here.page.evaluate((message) => window.postMessage(message, '*'), forged)
  for (const address of ['/foreign', `${places.service.origin}/other`]) {
    const shown = here.page.waitForEvent('framenavigated', (frame) => frame.url().endsWith(address))
    await here.page.evaluate((src) => document.body.append(Object.assign(document.createElement('iframe'), { src })), address)
    await (await shown).evaluate((message) => parent.postMessage(message, '*'), forged)
  }
  // Its own frame, when somebody has led it elsewhere.
  const own = await here.frame()
  await own.goto(`${places.shop.origin}/foreign`)
  await own.evaluate((message) => parent.postMessage(message, '*'), forged)
  for (const nonsense of ['paid', null, 7, { tollgate: 'other' }, { tollgate: { paid: true } }])
    await own.evaluate((message) => parent.postMessage(message, '*'), nonsense)
  await own.goto(`${places.service.origin}/pos/popup?key=the-key`)
  await here.say({ tollgate: 'paid', result: paid })
  await expect.poll(() => here.outcomes()).toEqual([[null, paid]])
})

test('the focus goes into the frame, stays there, and comes back', async () => {
  const here = await visit()
  const focused = () => here.page.evaluate(() => document.activeElement?.id || document.activeElement?.tagName)
  await here.buy()
  const frame = await here.frame()
  expect(await focused()).toBe('IFRAME')
  for (let presses = 0; presses < 5; presses++) {
    await here.page.keyboard.press('Tab')
    expect(['IFRAME', 'BODY', 'DIALOG']).toContain(await focused())
  }
  await frame.locator('#inside').focus()
  await here.page.keyboard.press('x')
  expect(await frame.evaluate(() => (window as unknown as { keys: string[] }).keys)).toContain('x')
  await here.say({ tollgate: 'closed' })
  await expect.poll(focused).toBe('buy')
})

test('the page cannot be scrolled meanwhile, and is afterwards where and how it was', async () => {
  const here = await visit()
  const where = () => here.page.evaluate(() => [scrollX, scrollY, document.documentElement.getAttribute('style')])
  await here.page.locator('#buy').scrollIntoViewIfNeeded()
  const before = await where()
  expect(before[1]).toBeGreaterThan(1_000)
  const place = await here.page.locator('#other').boundingBox()
  await here.buy()
  await here.frame()
  expect(await here.page.locator('#other').boundingBox()).toEqual(place)
  await here.page.mouse.move(600, 400)
  await here.page.mouse.wheel(0, 500)
  await here.page.keyboard.press('End')
  // Looked at without the style: to read an attribute can be what makes it.
  expect(await here.page.evaluate(() => scrollY)).toBe(before[1])
  await here.say({ tollgate: 'closed' })
  await expect.poll(() => overlays(here)).toBe(0)
  expect(await where()).toEqual(before)
})

test('what the page had set itself is there again, on a page that scrolls smoothly too', async () => {
  const here = await visit('/styled')
  await here.page.evaluate(() => {
    document.documentElement.style.setProperty('overflow-y', 'scroll', 'important')
    document.documentElement.style.setProperty('color', 'green')
  })
  await here.page.locator('#buy').scrollIntoViewIfNeeded()
  const where = () => here.page.evaluate(() => [scrollY, document.documentElement.getAttribute('style')])
  const before = await where()
  const place = await here.page.locator('h1').boundingBox()
  await here.buy()
  await here.frame()
  expect(await here.page.evaluate(() => innerWidth - document.documentElement.clientWidth)).toBe(0)
  expect(await here.page.locator('h1').boundingBox()).toEqual(place)
  await here.page.evaluate(() => window.scrollTo({ top: 0, behavior: 'instant' }))
  await here.say({ tollgate: 'closed' })
  await expect.poll(() => overlays(here)).toBe(0)
  expect(await where()).toEqual([before[0], expect.stringMatching(/^(?=.*overflow-y: scroll !important)(?=.*color: green)/)])
})

test.each([{ width: 1280 }, { width: 320 }])(
  'the frame covers all of a screen of $width pixels, whatever the shop styles',
  async ({ width }) => {
    const here = await visit('/styled', { width })
    await here.buy()
    const frame = here.page.locator('dialog > iframe')
    expect(await frame.boundingBox()).toEqual({ x: 0, y: 0, width, height: 800 })
    expect(await frame.evaluate((element) => getComputedStyle(element).opacity)).toBe('1')
  },
)

test('a popup that is opened from a dialog of the shop is above it', async () => {
  const here = await visit()
  await here.page.evaluate(
    (given) => {
      Object.assign(window, given)
      ;(document.getElementById('basket') as HTMLDialogElement).showModal()
    },
    { payment: { amount }, key: 'the-key' },
  )
  await here.page.locator('#pay').click()
  const frame = await here.frame()
  await frame.locator('#inside').click({ timeout: 3_000 })
  await here.say({ tollgate: 'closed' })
  await expect.poll(() => overlays(here)).toBe(0)
  expect(await here.page.evaluate(() => document.activeElement?.id)).toBe('pay')
})

test('Escape closes what is still loading', async () => {
  const here = await visit()
  await here.buy({ amount }, 'silent')
  await here.page.locator('dialog[open]').evaluate((dialog) => (dialog as HTMLElement).focus())
  await here.page.evaluate(() => (document.activeElement as HTMLElement).blur())
  await here.page.keyboard.press('Escape')
  await expect.poll(() => here.outcomes()).toEqual([['closed', undefined]])
  expect(await overlays(here)).toBe(0)
})

test('once the frame is there Escape is its own, wherever the focus is', async () => {
  const here = await visit()
  await here.buy()
  const frame = await here.frame()
  await frame.locator('#inside').click()
  for (let presses = 0; presses < 3; presses++) await here.page.keyboard.press('Escape')
  expect(await frame.evaluate(() => (window as unknown as { keys: string[] }).keys)).toEqual(['Escape', 'Escape', 'Escape'])
  for (let presses = 0; presses < 3; presses++) {
    await here.page.evaluate(() => (document.activeElement as HTMLElement).blur())
    await here.page.keyboard.press('Escape')
  }
  await expect.poll(() => here.page.locator('dialog:modal > iframe').count()).toBe(1)
  expect(await here.outcomes()).toEqual([])
  await here.say({ tollgate: 'closed' })
  await expect.poll(() => here.outcomes()).toEqual([['closed', undefined]])
})
