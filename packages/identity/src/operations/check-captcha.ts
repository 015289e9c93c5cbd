import { clientAddress } from '@tollgate/kit/client-address'
import type { Incoming } from '@tollgate/kit/endpoint'
import { Unavailable } from '@tollgate/kit/failure'
import { OutsideTrouble } from '@tollgate/kit/fetch'
import type { App } from '../app.ts'
import { isAdmin } from '../callers.ts'
import { fail } from '../errors.ts'

/** What bodies say of a captcha: in the place where today's clients put it, or at the top. */
export type CaptchaFields = {
  captcha_token?: string | undefined
  gotrue_meta_security?: { captcha_token?: string | undefined } | undefined
}

const verifiers = {
  hcaptcha: 'https://hcaptcha.com/siteverify',
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
} as const

/** Refuses a body without a captcha that its provider vouches for, where captchas are asked for. Admins are taken for people. */
export async function checkCaptcha(app: App, request: Incoming, body: CaptchaFields): Promise<void> {
  const { enabled, provider, secret, timeout, base } = app.config.security.captcha
  if (!enabled || isAdmin(app, request)) return
  const token = (body.gotrue_meta_security?.captcha_token || body.captcha_token || '').trim()
  if (token === '') throw refusal('no captcha_token found')
  const form = new URLSearchParams({ secret: secret?.reveal() ?? '', response: token, remoteip: clientAddress(request) ?? '' })
  const verdict = await ask(app, base ?? verifiers[provider], { form, timeout, provider })
  if (verdict.success === true) return
  const codes = verdict['error-codes']
  throw refusal(Array.isArray(codes) ? codes.filter((code) => /^[\w-]{1,60}$/.test(String(code))).join(', ') : '')
}

type Verdict = { success?: unknown; 'error-codes'?: unknown }

async function ask(
  { fetch }: App,
  url: string,
  { form, timeout, provider }: { form: URLSearchParams; timeout: number; provider: string },
): Promise<Verdict> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: form.toString(),
      timeout,
      asked: provider,
    })
    if (answer.status !== 200) throw answer.trouble()
    const verdict = answer.json<Verdict | null>()
    return typeof verdict === 'object' && verdict !== null ? verdict : {}
  } catch (problem) {
    if (!(problem instanceof OutsideTrouble)) throw problem
    throw new Unavailable('captchas cannot be checked', { cause: problem })
  }
}

function refusal(reason: string) {
  return fail('captcha_failed', { message: `captcha protection: request disallowed (${reason})` })
}
