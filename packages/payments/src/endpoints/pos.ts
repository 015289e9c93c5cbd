import { answerPage } from '@tollgate/checkout/answer'
import { filesFor } from '@tollgate/checkout/assets'
import { fill } from '@tollgate/checkout/fill'
import { chooseLanguage } from '@tollgate/checkout/languages/all'
import type { Words } from '@tollgate/checkout/languages/words'
import { renderPage } from '@tollgate/checkout/page'
import { renderProblem } from '@tollgate/checkout/problem-page'
import { Answer, anyone, type Incoming } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { type App, endpoint } from '../app.ts'
import { textOn } from '../rules/accent.ts'
import { decimalsOf, type LinkProblem, readLink, readParameters } from '../rules/payment-link.ts'
import { findPayee, type Payee } from '../store/merchants.ts'

const Page = Type.Unsafe<Buffer>({ type: 'string', contentMediaType: 'text/html' })

export const pos = endpoint({
  method: 'GET',
  path: '/pos',
  summary: 'The hosted page on which customers pay, as a payment link opens it',
  description:
    'In the query: `key`, the public key of the merchant, is required. `test=1` for a test merchant, and for no other. `currency`, else that ' +
    'of the merchant. `value` in major units, such as 12.50, or as in older links `amount` in minor units; without either the payer enters ' +
    'it. `reference`, kept with the transaction as `custom.reference`. `text`, shown on the page. `redirect`, where the payer goes ' +
    'afterwards, with `transactionId` added to its query. `locale`, such as `da` or `de_AT`. `recurring=y`, where the card will be charged ' +
    'again. A link that cannot be followed is answered with a page that says why.',
  tag: 'Customers',
  caller: anyone,
  reply: { 200: Page, 400: Page, 404: Page },
  fails: [],

  async run(app, { request }) {
    const { status, page } = await writePage(app, request)
    const frames = new URL(app.config.customers.externalUrl).origin
    const acceptEncoding = request.headers['accept-encoding']
    const { body, headers } = await answerPage(page, { kind: 'link', frames, acceptEncoding })
    return new Answer(status, body, headers)
  },
})

/** Read from the query as it came: payers follow links that somebody wrote by hand, and are to see a page whatever is wrong with them. */
async function writePage(app: App, { query, headers }: Incoming): Promise<{ status: number; page: string }> {
  const asked = readParameters(query)
  const language = chooseLanguage({ locale: asked.locale, acceptLanguage: headers['accept-language'] })
  const payee = asked.key === undefined ? undefined : await findPayee(app.db, asked.key)
  const files = await filesFor(colors(payee), '/pos/assets')
  if (!payee) return { status: 404, page: renderProblem(language, language.words.linkUnknownMerchant, files) }
  const { name, descriptor, test, currency, canChargeCard } = payee
  const merchant = name ?? descriptor
  const refuse = (sentence: string | undefined) => ({ status: 400, page: renderProblem(language, sentence, files) })
  if (!canChargeCard) return refuse(fill(language.words.merchantUnavailable, { merchant }))
  const link = readLink(asked, payee)
  if ('problem' in link) return refuse(tell(language.words, link.problem))
  const { amount, ...payment } = link
  const facts = {
    kind: 'link' as const,
    language,
    merchant: { key: asked.key ?? '', name: merchant, test, currency },
    payment: { ...payment, minor: amount, decimals: decimalsOf(link.currency) },
  }
  return { status: 200, page: renderPage(facts, files) }
}

function tell(words: Words, problem: LinkProblem): string | undefined {
  const sentences: Record<LinkProblem, string | undefined> = {
    'test missing': words.linkTestMissing,
    'test unexpected': words.linkTestUnexpected,
    currency: words.linkCurrencyInvalid,
    amount: words.linkAmountInvalid,
    redirect: words.linkRedirectInvalid,
    text: undefined,
  }
  return sentences[problem]
}

function colors(payee: Payee | undefined) {
  return payee?.accent ? { color: payee.accent, text: textOn(payee.accent) } : undefined
}
