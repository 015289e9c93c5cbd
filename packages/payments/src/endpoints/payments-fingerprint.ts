import { Answer, anyone } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { makeHint } from '../operations/read-hints.ts'
import { openQuestion } from '../operations/tds-questions.ts'
import { fingerprintPage } from '../pages/fingerprint-page.ts'
import { silentPage } from '../pages/silent-page.ts'

export const paymentsFingerprint = endpoint({
  method: 'POST',
  path: '/payments/fingerprint',
  summary: 'The page that a device opens unseen for the step `fingerprint`',
  tag: 'Customers',
  caller: anyone,
  body: Type.Object({ data: Type.String({ maxLength: 8192 }) }),
  reply: { 200: Type.String({ contentMediaType: 'text/html' }) },
  fails: ['PAYMENT_CHALLENGE_UNAVAILABLE', 'vault_missing'],

  run(app, { body }) {
    const { order, simulation } = openQuestion(app, body.data)
    const hints = [makeHint(app, order, { proof: 'fingerprint' })]
    const { page, policy } = simulation.fingerprint === 'timeout' ? silentPage() : fingerprintPage({ hints })
    return new Answer(200, page, { 'content-security-policy': policy })
  },
})
