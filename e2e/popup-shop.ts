import { type HttpFake, startHttpFake } from '@tollgate/kit/http-fake'
import type { Payment } from '@tollgate/sdk/paylike'
import { sdkScript } from '@tollgate/sdk/script'
import type { Browser, Frame, Page } from 'playwright-core'

export type Outcome = [err: string | null, result?: unknown]

/** A shop whose pages load the popup's script from another origin, and a page for the frame that says what it is told to say. */
export type PopupShop = { shop: HttpFake; service: HttpFake; close(): Promise<void> }

export async function openPopupShop(): Promise<PopupShop> {
  const script = { headers: { 'content-type': 'text/javascript' }, text: await sdkScript() }
  const frame = { headers: { 'content-type': 'text/html' }, text: framePage }
  const service = await startHttpFake({
    'GET /sdk.js': script,
    'GET /behind/a/prefix/sdk.js': script,
    'GET /pos/popup': ({ query }) => (query.key === 'hangs' ? 'hang' : frame),
    'GET /behind/a/prefix/pos/popup': frame,
    'GET /other': frame,
  })
  const page = (policy: string, scripts: string) => ({
    headers: { 'content-type': 'text/html', 'content-security-policy': `default-src 'none'; img-src data:; ${policy}` },
    text: `${shopPage}${scripts}<script src="/shop.js"></script>`,
  })
  const allowed = `script-src 'self' ${service.origin}; frame-src 'self' ${service.origin}`
  const load = (path: string, attributes = '') => `<script src="${service.origin}${path}" ${attributes}></script>`
  const shop = await startHttpFake({
    'GET /': page(allowed, load('/sdk.js')),
    'GET /twice': page(allowed, `${load('/sdk.js')}<script src="/first.js"></script>${load('/sdk.js')}`),
    'GET /prefix': page(allowed, load('/behind/a/prefix/sdk.js')),
    'GET /unframed': page(`script-src 'self' ${service.origin}`, load('/sdk.js')),
    'GET /styled': {
      headers: { 'content-type': 'text/html' },
      text: `${wildStyles}${shopPage}${load('/sdk.js')}<script src="/shop.js"></script>`,
    },
    'GET /foreign': { headers: { 'content-type': 'text/html' }, text: framePage },
    'GET /shop.js': { headers: { 'content-type': 'text/javascript' }, text: `(${runShop})()` },
    'GET /first.js': { headers: { 'content-type': 'text/javascript' }, text: 'window.FirstPaylike = Paylike' },
  })
  return {
    shop,
    service,
    async close() {
      await Promise.all([shop.close(), service.close()])
    },
  }
}

const shopPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>A shop</title><link rel="icon" href="data:,">
<h1>A shop</h1><svg width="10" height="3000"></svg><p><button id="buy">Buy</button> <button id="other">Other</button></p>
<dialog id="basket"><button id="pay">Pay</button></dialog><svg width="10" height="3000"></svg>`

/** What themes of shops say about everything on their pages. */
const wildStyles = `<style>
::-webkit-scrollbar { width: 20px } html { scroll-behavior: smooth } iframe, dialog { max-width: 50% !important; border: 9px solid red !important; margin: 40px !important; opacity: .2 }
dialog { padding: 3em !important; height: 10px !important; transform: rotate(5deg) }</style>`

const framePage = `<!doctype html><title>The frame</title><button id="inside">Inside</button><script>
window.heard = []
window.keys = []
window.addEventListener('message', (event) => heard.push({ origin: event.origin, fromParent: event.source === parent, data: event.data }))
window.addEventListener('keydown', (event) => keys.push(event.key))
if (new URLSearchParams(location.search).get('key') !== 'silent') parent.postMessage({ tollgate: 'ready' }, '*')
</script>`

type ShopWindow = Window & {
  Paylike(options: { key: string }): { pay(payment: Payment, callback: (err: unknown, result: unknown) => void): void }
  payment: Payment
  key: string
  outcomes: Outcome[]
}

/** Runs in the browser. */
function runShop(): void {
  const here = window as unknown as ShopWindow
  here.outcomes = []
  const pay = () =>
    here.Paylike({ key: here.key }).pay(here.payment, (err, result) => {
      here.outcomes.push([err instanceof Error ? `Error: ${err.message}` : (err as string | null), result])
    })
  for (const button of document.querySelectorAll('#buy, #pay')) button.addEventListener('click', pay)
}

export const amount = { currency: 'EUR', exponent: 2, value: 2450 }

export type Visit = {
  page: Page
  /** What the browser complains about: scripts that fail, what a policy refuses. */
  complaints: string[]
  /** Presses the button that asks for a payment. */
  buy(payment?: object, key?: string): Promise<void>
  frame(): Promise<Frame>
  /** Has the frame say something to the page around it. */
  say(...messages: object[]): Promise<void>
  outcomes(): Promise<Outcome[]>
}

export async function visitShop(
  browser: Browser,
  address: string,
  /** `still`: time passes when the test says so, and by nothing else. */
  options: { still?: boolean; width?: number } = {},
): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: options.width ?? 1280, height: 800 } })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (problem) => complaints.push(String(problem)))
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  if (options.still) {
    // A clock that is only installed goes on by itself, by as much as a busy machine takes.
    await page.clock.install({ time: '2030-01-01T00:00:00Z' })
    await page.clock.pauseAt('2030-01-02T00:00:00Z')
  }
  await page.goto(address)
  const visit: Visit = {
    page,
    complaints,
    async buy(payment = { amount }, key = 'the-key') {
      await page.evaluate((given) => Object.assign(window, given), { payment, key })
      await page.locator('#buy').click()
    },
    async frame() {
      const element = await page.locator('dialog > iframe').elementHandle()
      const frame = await element?.contentFrame()
      if (!frame) throw new Error('There is no frame')
      await frame.waitForSelector('#inside')
      return frame
    },
    async say(...messages) {
      const frame = await visit.frame()
      await frame.evaluate((all) => {
        for (const each of all) parent.postMessage(each, '*')
      }, messages)
    },
    outcomes: () => page.evaluate(() => (window as unknown as ShopWindow).outcomes),
  }
  return visit
}
