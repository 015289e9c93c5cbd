import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { startPayments } from '@tollgate/payments/testing'
import type { BrowserContextOptions, Frame, Page } from 'playwright-core'
import { freePort } from '../packages/tollgate/src/testing.ts'
import { openBrowser } from './browser.ts'
import { openShop, type Payments, type Shop } from './payments-service.ts'

export type Counter = {
  service: Payments
  shop: Shop
  /** What browsers complained about since it was last asked for. */
  complaints: string[]
  open(query: Readonly<Record<string, string>>, options?: BrowserContextOptions): Promise<Page>
  /** A page of somebody else's, in a browser whose clock is the service's. */
  visit(address: string, options?: BrowserContextOptions): Promise<Page>
  closePages(): Promise<void>
  /** What was paid, or tried, since the pages were closed last; the oldest first. */
  paid(): Promise<Paid[]>
  stop(): Promise<void>
}

type Paid = {
  id: string
  state: string
  amount: number
  currency: string
  tds: string
  custom: Record<string, unknown> | null
  recurring: boolean
}

/** A test shop, the service that takes its payments under the address that it tells browsers, and a browser. */
export async function openCounter(): Promise<Counter> {
  // The service has to know its own address before it listens, for it is what banks are told.
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const service = await startPayments({ PAY_API_PORT: String(port), PAY_API_EXTERNAL_URL: origin })
  const shop = await openShop(service)
  const browser = await openBrowser()
  const complaints: string[] = []
  const seen = new Set<string>()
  let past = 0

  const visit = async (address: string, options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-GB', ...options })
    // Cards must not have expired on either side.
    await context.clock.setFixedTime(service.now())
    const page = await context.newPage()
    page.on('pageerror', (problem) => complaints.push(String(problem)))
    page.on('console', (message) => {
      // Every refusal of a payment is an answer that browsers think worth mentioning.
      const expected = /status of (400|503)/.test(message.text()) || /ERR_(FAILED|INTERNET_DISCONNECTED)/.test(message.text())
      if (['error', 'warning'].includes(message.type()) && !expected) complaints.push(message.text())
    })
    page.on('dialog', (dialog) => void dialog.accept())
    await page.goto(address)
    return page
  }

  async function paid(): Promise<Paid[]> {
    const found = await service.app.db<Paid>`
      select id, state, amount, currency, tds, custom, recurring from pay.transactions where merchant_id = ${shop.id} order by id`
    // The clock stands still, and nodes know nothing of each other's ids of one moment: what was seen first came first.
    for (const { id } of found) seen.add(id)
    return [...seen].slice(past).map((id) => found.find((each) => each.id === id) as Paid)
  }

  return {
    ...{ service, shop, complaints, visit },
    open: (query, options) => visit(`${origin}/pos?${new URLSearchParams({ key: shop.key, test: '1', ...query })}`, options),
    paid,
    async closePages() {
      for (const context of browser.contexts()) await context.close()
      await paid()
      past = seen.size
    },
    async stop() {
      await browser.close()
      await service.stop()
    },
  }
}

/** Types the card that always works, or another. */
export async function typeCard(
  place: Page | Frame,
  card: { number?: string; expiry?: string; code?: string } = {},
): Promise<void> {
  await place.locator('#number').fill(card.number ?? '4100 0000 0000 0000')
  await place.locator('#expiry').fill(card.expiry ?? '12/35')
  await place.locator('#code').fill(card.code ?? '123')
}

/** What the payer's bank asks. */
export function bank(place: Page | Frame) {
  return place.frameLocator('#challenge iframe')
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Violation = { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }

/** What axe finds wrong with what is shown. */
export async function violations(page: Page | Frame): Promise<string[]> {
  // The page lets no foreign script in, so that it is brought by the debugger.
  await page.evaluate(axe)
  const found = await page.evaluate<Violation[]>(
    `axe.run({ iframes: false, runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(({ violations }) => violations)`,
  )
  return found.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
