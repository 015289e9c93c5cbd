import { anyone } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { fail } from '../errors.ts'
import { checkCaptcha } from '../operations/check-captcha.ts'
import { findDestination } from '../operations/find-destination.ts'
import { limitCaller } from '../operations/limit.ts'
import { readChallenge, readEmail } from '../operations/read-input.ts'
import { checkMagicLinks, sendMagicLink } from '../operations/send-magic-link.ts'
import { captchaFields, challengeFields, Data, Empty, redirectQuery } from '../shapes.ts'

export const magiclink = endpoint({
  method: 'POST',
  path: '/magiclink',
  summary: 'Send a link to sign in with',
  description: 'The older form of POST /otp with an email address.',
  tag: 'Sign in',
  caller: anyone,
  query: redirectQuery,
  body: Type.Object({
    email: Type.Optional(Type.String()),
    data: Type.Optional(Data),
    ...challengeFields,
    ...captchaFields,
  }),
  reply: { 200: Empty },
  fails: [
    'captcha_failed',
    'over_request_rate_limit',
    'over_email_send_rate_limit',
    'email_provider_disabled',
    'email_address_not_authorized',
  ],

  async run(app, { body, query, request }) {
    await limitCaller(app, request, 'magiclink', app.config.rateLimit.otp)
    await checkCaptcha(app, request, body)
    checkMagicLinks(app)
    const { email = '', data = {} } = body
    if (email === '') throw fail('validation_failed', { status: 422, message: 'Password recovery requires an email' })
    const address = readEmail(email)
    const challenge = readChallenge(app, body)
    const redirectTo = findDestination(app, request, query.redirect_to)
    await sendMagicLink(app, request, { email: address, createUser: true, data, redirectTo, challenge })
    return {}
  },
})
