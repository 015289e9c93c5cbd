import { describe, expect, test } from 'vitest'
import { type ConfigProblem, defineSettings } from './env.ts'
import { smtpSettings } from './smtp-settings.ts'

const family = { prefix: 'TEST', title: 'a test' }
const optional = defineSettings(family, (read) => smtpSettings(read, { prefix: 'TEST' }))
const needed = defineSettings(family, (read) =>
  smtpSettings(read, { prefix: 'TEST', required: { when: true, because: 'people are mailed' } }),
)

function complaintsOf(settings: typeof optional, env: Record<string, string>): string[] {
  try {
    settings.read(env)
    return []
  } catch (problem) {
    return (problem as ConfigProblem).complaints.map((line) => line.split('. ')[0] ?? '')
  }
}

describe('a service that may do without mail', () => {
  test('needs nothing', () => {
    expect(optional.read({}).config).toMatchObject({ host: '', port: 587, user: undefined, adminEmail: '' })
  })

  test('needs an address of its own as soon as there is a mail server', () => {
    expect(complaintsOf(optional, { TEST_SMTP_HOST: 'smtp.test' })).toEqual([
      'TEST_SMTP_ADMIN_EMAIL is not set although TEST_SMTP_HOST is set',
    ])
  })
})

test('a service that cannot do without needs all that it takes', () => {
  expect(complaintsOf(needed, {})).toEqual([
    'TEST_SMTP_HOST is not set although people are mailed',
    'TEST_SMTP_PORT is not set although people are mailed',
    'TEST_SMTP_ADMIN_EMAIL is not set although people are mailed',
  ])
})

test('mails come from the address unless there is a name', () => {
  const env = { TEST_SMTP_HOST: 'smtp.test', TEST_SMTP_PORT: '465', TEST_SMTP_ADMIN_EMAIL: 'a@site.test', TEST_SMTP_PASS: 'p' }
  expect(optional.read(env).config).toMatchObject({ port: 465, senderName: 'a@site.test' })
  expect(optional.read({ ...env, TEST_SMTP_SENDER_NAME: 'Site' }).config.senderName).toBe('Site')
  expect(JSON.stringify(optional.read(env).config)).not.toContain('"p"')
})
