import { Answer, anyone } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { makeHint } from '../operations/read-hints.ts'
import { openQuestion } from '../operations/tds-questions.ts'
import { tdsChallengePage } from '../pages/tds-challenge-page.ts'
import { exponentOf } from '../rules/currencies.ts'
import { majorText } from '../rules/money.ts'

export const tdsChallenge = endpoint({
  method: 'POST',
  path: '/3dsecure/v2/challenge',
  summary: 'The page on which the simulator’s bank asks the payer to confirm',
  tag: 'Customers',
  caller: anyone,
  body: Type.Object({ creq: Type.String({ maxLength: 8192 }) }),
  reply: { 200: Type.String({ contentMediaType: 'text/html' }) },
  fails: ['PAYMENT_CHALLENGE_UNAVAILABLE', 'vault_missing'],

  run(app, { body, request }) {
    const { order, merchant, amount, currency, last4 } = openQuestion(app, body.creq)
    const language = request.headers['accept-language']
    const answer = (confirmed: boolean) => [makeHint(app, order, { proof: 'tds-challenge', confirmed })]
    const { page, policy } = tdsChallengePage({
      merchant,
      ...(amount > 0 && { amountText: amountText(amount, currency) }),
      cardText: `•••• ${last4}`,
      approve: answer(true),
      fail: answer(false),
      ...(language !== undefined && { language }),
    })
    return new Answer(200, page, { 'content-security-policy': policy })
  },
})

/** With all of its decimals, as banks write it: EUR 12.50 */
function amountText(amount: number, currency: string): string {
  const decimals = exponentOf(currency) ?? 0
  const [whole, fraction = ''] = majorText(amount, currency).split('.')
  return `${currency} ${whole}${decimals > 0 ? `.${fraction.padEnd(decimals, '0')}` : ''}`
}
