import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAccount, startWithInbox } from '@tollgate/identity/testing'
import { plantMerchant, startPayments } from '@tollgate/payments/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newFlowCode } from '../packages/identity/src/rules/code.ts'

/**
 * How often somebody can guess in an hour, with the settings that nobody changed: by one address, and by as many as there are. Time is a
 * clock that stands still between the steps, so that an hour is an hour to the second.
 */
const hour = 3600

let identity: Awaited<ReturnType<typeof startWithInbox>>
let payments: Awaited<ReturnType<typeof startPayments>>

beforeAll(async () => {
  identity = await startWithInbox({
    AUTH_RATE_LIMIT_HEADER: 'X-Caller',
    // What an operator has who sets nothing.
    AUTH_RATE_LIMIT_EMAIL_SENT: '',
    AUTH_RATE_LIMIT_SMS_SENT: '',
  })
  payments = await startPayments({ PAY_RATE_LIMIT_HEADER: 'X-Caller' })
  // Every guess that was held against a code, whoever made it.
  await identity.app.db`create table public.guesses (code_id uuid, at timestamptz default now())`
  await identity.app.db`
    create function public.count_guess() returns trigger language plpgsql as $$
    begin
      insert into public.guesses (code_id) values (new.id);
      return new;
    end $$`
  await identity.app.db`
    create trigger count_guess after update on auth.one_time_tokens for each row when (new.attempts > old.attempts)
    execute function public.count_guess()`
})
afterAll(async () => {
  await identity?.stop()
  await payments?.stop()
})

let addresses = 0
/** An address that nobody has called from. */
const elsewhere = () => ({ 'x-caller': `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses++ & 255}` })

async function judged(): Promise<number> {
  const [row] = await identity.app.db<{ count: number }>`select count(*)::int as count from public.guesses`
  return row?.count ?? 0
}

/** What the ceilings follow from: messages an hour, and in five minutes what one caller may ask for, of which so many at once. */
const settings = { mails: 30, sms: 30, verify: 30, token: 150, atOnce: 30, digits: 6 }
const guessesOfCode = 5
const hourly = (inFiveMinutes: number) => 12 * inFiveMinutes + settings.atOnce

test('the ceilings below are those of the settings as they come', () => {
  const { config } = identity.app
  const { mails, sms, verify, token, atOnce, digits } = settings
  expect(config.rateLimit.emailSent).toEqual({ most: mails, amount: mails, seconds: hour })
  expect(config.rateLimit.smsSent).toEqual({ most: sms, amount: sms, seconds: hour })
  expect(config.rateLimit.verify).toEqual({ most: atOnce, amount: 1, seconds: 300 / verify })
  expect(config.rateLimit.token).toEqual({ most: atOnce, amount: 1, seconds: 300 / token })
  expect([config.smtp.mailer.otpLength, config.sms.otpLength]).toEqual([digits, digits])
  expect(payments.app.config.rateLimit.declined).toEqual({ most: 20, amount: 1, seconds: 60 })
})

describe('codes that people type', () => {
  /** Whoever asks for a code of everybody, and guesses at each as long as it is worth it, from a new address every time. */
  async function guessForAnHour(asks: { path: string; json: object; guess: object }[]) {
    const before = await judged()
    const sent: number[] = []
    for (let step = 0; step < 6; step++) {
      const codes = await Promise.all(asks.map(({ path, json }) => identity.call(`POST ${path}`, { json, headers: elsewhere() })))
      sent.push(codes.filter(({ status }) => status === 200).length)
      const guesses = asks.flatMap(({ guess }) => Array.from({ length: guessesOfCode + 2 }, () => guess))
      const answers = await Promise.all(guesses.map((json) => identity.call('POST /verify', { json, headers: elsewhere() })))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403]))
      identity.now.advance(hour / 6)
    }
    return { sent: sent.reduce((sum, each) => sum + each), guesses: (await judged()) - before }
  }

  const people = async (count: number) => {
    const made = Array.from({ length: count }, (_, index) => ({
      email: `guessed-${index}-${addresses}@site.test`,
      phone: String(45_000_000_000 + addresses * 1000 + index),
    }))
    for (const each of made) await createAccount(identity, { ...each, phoneConfirmedAt: identity.now() })
    return made
  }

  test('by mail can be guessed at 150 times an hour, over all accounts and from however many addresses', async () => {
    const asks = (await people(12)).map(({ email }) => ({
      path: '/recover',
      json: { email },
      guess: { type: 'recovery', email, token: 'wrong!' },
    }))
    expect(await guessForAnHour(asks)).toEqual({ sent: settings.mails, guesses: settings.mails * guessesOfCode })
  })

  test('by SMS can be guessed at 150 times an hour, over all accounts and from however many addresses', async () => {
    const asks = (await people(12)).map(({ phone }) => ({
      path: '/otp',
      json: { phone, create_user: false },
      guess: { type: 'sms', phone, token: 'wrong!' },
    }))
    expect(await guessForAnHour(asks)).toEqual({ sent: settings.sms, guesses: settings.sms * guessesOfCode })
  })

  test('are worth nothing after five guesses, though each came from another address', async () => {
    identity.now.advance(hour)
    const [ann] = await people(1)
    const email = ann?.email ?? ''
    await identity.call('POST /recover', { json: { email }, headers: elsewhere() })
    const { code } = await identity.mailTo(email)
    const guess = (token: string) =>
      identity.call('POST /verify', { json: { type: 'recovery', email, token }, headers: elsewhere() })
    const wrong = code === '000000' ? '000001' : '000000'
    for (let time = 0; time < guessesOfCode; time++) expect((await guess(wrong)).status).toBe(403)
    expect((await guess(code)).status).toBe(403)
  })
})

describe('one caller', () => {
  /** How many of far too many were let through in an hour, its first and its last moment included. */
  async function letThrough(
    ask: (headers: Record<string, string>) => Promise<{ status: number }>,
    { atEach, steps }: { atEach: number; steps: number },
  ) {
    const headers = elsewhere()
    let passed = 0
    for (let step = 0; step <= steps; step++) {
      const answers = await Promise.all(Array.from({ length: atEach }, () => ask(headers)))
      passed += answers.filter(({ status }) => status !== 429).length
      identity.now.advance(hour / steps)
    }
    return passed
  }

  test('tries 1,830 passwords or tokens in an hour', async () => {
    // The same bucket, without the cost of the hash.
    const json = { refresh_token: 'x' }
    const ask = (headers: Record<string, string>) => identity.call('POST /token?grant_type=refresh_token', { json, headers })
    expect(await letThrough(ask, { atEach: 32, steps: 60 })).toBe(hourly(settings.token))
    const password = { email: 'nobody@site.test', password: 'a wrong one' }
    const headers = elsewhere()
    for (let time = 0; time < 30; time++) await ask(headers)
    expect((await identity.call('POST /token?grant_type=password', { json: password, headers })).status).toBe(429)
  })

  test('presents 390 codes or links in an hour', async () => {
    const json = { type: 'signup', token_hash: 'x' }
    const ask = (headers: Record<string, string>) => identity.call('POST /verify', { json, headers })
    // Thirty at once and one every ten seconds.
    expect(await letThrough(ask, { atEach: 40, steps: 12 })).toBe(hourly(settings.verify))
  })

  test('has 80 cards or security codes declined in an hour', async () => {
    const merchant = await plantMerchant(payments)
    const card = { number: '4100000000000010', expiry: { month: 12, year: 2035 }, code: '123' }
    const json = { key: merchant.key, currency: 'EUR', amount: 100, card }
    const headers = elsewhere()
    let declined = 0
    for (let minute = 0; minute <= 60; minute++) {
      for (let status = 400; status === 400; ) {
        ;({ status } = await payments.call('POST /transactions', { json, headers }))
        if (status === 400) declined++
      }
      payments.now.advance(60)
    }
    expect(declined).toBe(80)
  })
})

describe('what nobody can guess', () => {
  /** How many bits of what is made are not always the same; of so many that none stays the same by chance. */
  async function bitsOf(make: () => Promise<Buffer>): Promise<number> {
    const made = await Promise.all(Array.from({ length: 80 }, make))
    const seen = new Map<number, Set<number>>()
    for (const bytes of made)
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const value = ((bytes[bit >> 3] ?? 0) >> (bit & 7)) & 1
        seen.set(bit, (seen.get(bit) ?? new Set()).add(value))
      }
    expect(new Set(made.map((bytes) => bytes.length)).size).toBe(1)
    return [...seen.values()].filter(({ size }) => size === 2).length
  }

  test('refresh tokens have 192 random bits', async () => {
    const make = async () => Buffer.from((await createAccount(identity)).refreshToken, 'base64url')
    expect(await bitsOf(make)).toBe(192)
  })

  test('codes of flows have 192 random bits', async () => {
    expect(await bitsOf(async () => Buffer.from(newFlowCode(), 'base64url'))).toBe(192)
  })

  test('keys of apps have 128 random bits', async () => {
    const make = async () => {
      const { app } = (await payments.call('POST /apps', { json: {}, headers: elsewhere() })).json<{ app: { key: string } }>()
      return Buffer.from(app.key.replaceAll('-', ''), 'hex')
    }
    expect(await bitsOf(make)).toBe(128)
  })
})

test('the figures of docs/security.md are those', () => {
  const page = readFileSync(join(import.meta.dirname, '..', 'docs/security.md'), 'utf8')
  const row = (what: string) => page.split('\n').find((line) => line.startsWith(`| ${what} |`)) ?? `no row of ${what}`
  expect(row('a code by mail')).toContain(
    `| ${hourly(settings.verify).toLocaleString('en')} | ${settings.mails * guessesOfCode} |`,
  )
  expect(row('a code by SMS')).toContain(`| ${hourly(settings.verify).toLocaleString('en')} | ${settings.sms * guessesOfCode} |`)
  expect(row('a password')).toContain(`| ${hourly(settings.token).toLocaleString('en')} |`)
  expect(row('a card, or its security code')).toContain('| 80 |')
})
