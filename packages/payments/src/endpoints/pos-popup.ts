import { answerPage } from '@tollgate/checkout/answer'
import { filesFor } from '@tollgate/checkout/assets'
import { chooseLanguage } from '@tollgate/checkout/languages/all'
import { renderPage } from '@tollgate/checkout/page'
import { Answer, anyone, type Incoming } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { type App, endpoint } from '../app.ts'
import { textOn } from '../rules/accent.ts'
import { exponentOf, isChargeable } from '../rules/currencies.ts'
import { decimalsOf, readParameters } from '../rules/payment-link.ts'
import { findPayee } from '../store/merchants.ts'

const Page = Type.Unsafe<Buffer>({ type: 'string', contentMediaType: 'text/html' })

export const posPopup = endpoint({
  method: 'GET',
  path: '/pos/popup',
  summary: 'What the popup of a shop has in its frame',
  description:
    'In the query: `key`, the public key of the merchant, and `locale`. The page tells the one around it `{tollgate: "ready"}`, waits for ' +
    '`{tollgate: "pay", config}`, and tells what came of it: `paid` with a `result`, `closed`, or `failed` with a `message`.',
  tag: 'Customers',
  caller: anyone,
  reply: { 200: Page },
  fails: [],

  async run(app, { request }) {
    const page = await writePage(app, request)
    const frames = new URL(app.config.customers.externalUrl).origin
    const acceptEncoding = request.headers['accept-encoding']
    const { body, headers } = await answerPage(page, { kind: 'popup', frames, acceptEncoding })
    return new Answer(200, body, headers)
  },
})

/** A key that nobody has opens the page all the same: it is the shop's page that is told, and whoever wrote it. */
async function writePage(app: App, { query, headers }: Incoming): Promise<string> {
  const { key = '', locale } = readParameters(query)
  const language = chooseLanguage({ locale, acceptLanguage: headers['accept-language'] })
  const payee = key === '' ? undefined : await findPayee(app.db, key)
  const { accent, name, descriptor, test, currency } = payee ?? { ...nobody, accent: null }
  const facts = {
    kind: 'popup' as const,
    language,
    merchant: { key, name: name ?? descriptor, test, currency },
    problem: payee ? undefined : 'The key names no merchant',
    currencies,
    payment: { ...nothing, currency, decimals: decimalsOf(currency) },
  }
  return renderPage(facts, await filesFor(accent ? { color: accent, text: textOn(accent) } : undefined, '/pos/assets'))
}

const nobody = { name: null, descriptor: '', test: false, currency: 'EUR' }

const nothing = { minor: undefined, reference: undefined, text: undefined, redirect: undefined, recurring: false }

/** By how many decimals they have. */
const currencies = Object.fromEntries(
  [0, 2, 3].map((decimals) => {
    const codes = Intl.supportedValuesOf('currency').filter((code) => isChargeable(code) && exponentOf(code) === decimals)
    return [decimals, codes.join(' ')]
  }),
)
