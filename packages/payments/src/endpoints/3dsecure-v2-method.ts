import { Answer, anyone } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { makeHint } from '../operations/read-hints.ts'
import { openQuestion } from '../operations/tds-questions.ts'
import { silentPage } from '../pages/silent-page.ts'
import { tdsMethodPage } from '../pages/tds-method-page.ts'
import { methodProofs } from '../rules/challenges.ts'

export const tdsMethod = endpoint({
  method: 'POST',
  path: '/3dsecure/v2/method',
  summary: 'The page of the simulator’s bank that a device opens unseen',
  tag: 'Customers',
  caller: anyone,
  body: Type.Object({ threeDSMethodData: Type.String({ maxLength: 8192 }) }),
  reply: { 200: Type.String({ contentMediaType: 'text/html' }) },
  fails: ['PAYMENT_CHALLENGE_UNAVAILABLE', 'vault_missing'],

  run(app, { body }) {
    const { order, simulation } = openQuestion(app, body.threeDSMethodData)
    // Engines of phones count: this page says three things, in one message.
    const hints = methodProofs.map((proof) => makeHint(app, order, { proof }))
    const { page, policy } = simulation.tds?.fingerprint === 'timeout' ? silentPage() : tdsMethodPage({ hints })
    return new Answer(200, page, { 'content-security-policy': policy })
  },
})
