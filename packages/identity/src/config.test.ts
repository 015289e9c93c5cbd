import { readFileSync } from 'node:fs'
import { ConfigProblem, type Env } from '@tollgate/kit/env'
import { describe, expect, test } from 'vitest'
import { settings } from './config.ts'

const required: Env = {
  AUTH_SITE_URL: 'https://site.test/',
  AUTH_API_EXTERNAL_URL: 'https://auth.site.test',
  AUTH_DB_DRIVER: 'postgres',
  AUTH_DB_DATABASE_URL: 'postgres://me:hunter2@localhost/db',
  AUTH_JWT_SECRET: 'a secret that only tests know of',
  AUTH_SMTP_HOST: 'mail.test',
  AUTH_SMTP_PORT: '25',
  AUTH_SMTP_ADMIN_EMAIL: 'no-reply@site.test',
}

function configOf(env: Env = {}) {
  return settings.read({ ...required, ...env }).config
}

/** The names of the settings that are complained about. */
function complaintsOf(env: Env): string[] {
  try {
    settings.read(env)
  } catch (problem) {
    if (problem instanceof ConfigProblem) return problem.complaints.map((line) => line.split(' ')[0] ?? '')
    throw problem
  }
  return []
}

const declared = new Map(settings.declared.map((setting) => [setting.name, setting]))

describe('the specification’s table', () => {
  test.each<[name: string, kind: string, fallback: string | undefined]>([
    ['URI_ALLOW_LIST', 'list', undefined],
    ['DISABLE_SIGNUP', 'flag', 'false'],
    ['EXTERNAL_EMAIL_ENABLED', 'flag', 'true'],
    ['EXTERNAL_PHONE_ENABLED', 'flag', 'false'],
    ['EXTERNAL_ANONYMOUS_USERS_ENABLED', 'flag', 'false'],
    ['RATE_LIMIT_HEADER', 'header', undefined],
    ['RATE_LIMIT_EMAIL_SENT', 'rate', '30'],
    ['PASSWORD_MIN_LENGTH', 'whole number', '6'],
    ['PASSWORD_REQUIRED_CHARACTERS', 'sets', undefined],
    ['SECURITY_REFRESH_TOKEN_ROTATION_ENABLED', 'flag', 'true'],
    ['SECURITY_REFRESH_TOKEN_REUSE_INTERVAL', 'duration', '10'],
    ['SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION', 'flag', 'false'],
    ['SECURITY_CAPTCHA_ENABLED', 'flag', 'false'],
    ['SECURITY_CAPTCHA_PROVIDER', 'choice', 'hcaptcha'],
    ['SECURITY_CAPTCHA_SECRET', 'secret', undefined],
    ['SECURITY_CAPTCHA_TIMEOUT', 'duration', '10'],
    ['API_HOST', 'text', '0.0.0.0'],
    ['API_PORT', 'whole number', '8081'],
    ['REQUEST_ID_HEADER', 'header', undefined],
    ['DB_MAX_POOL_SIZE', 'whole number', '0'],
    ['DB_NAMESPACE', 'name', 'auth'],
    ['LOG_LEVEL', 'choice', 'info'],
    ['LOG_FILE', 'text', undefined],
    ['TRACING_ENABLED', 'flag', 'false'],
    ['TRACING_EXPORTER', 'choice', 'opentelemetry'],
    ['METRICS_ENABLED', 'flag', 'false'],
    ['METRICS_EXPORTER', 'choice', 'opentelemetry'],
    ['OTEL_EXPORTER_PROMETHEUS_HOST', 'text', '0.0.0.0'],
    ['OTEL_EXPORTER_PROMETHEUS_PORT', 'whole number', '9100'],
    ['JWT_EXP', 'duration', '3600'],
    ['JWT_AUD', 'text', undefined],
    ['JWT_ADMIN_ROLES', 'list', 'service_role,supabase_admin'],
    ['JWT_ADMIN_GROUP_NAME', 'text', 'admin'],
    ['JWT_DEFAULT_GROUP_NAME', 'text', undefined],
    ['SMTP_HOST', 'text', undefined],
    ['SMTP_PORT', 'whole number', '587'],
    ['SMTP_ADMIN_EMAIL', 'text', undefined],
    ['SMTP_USER', 'text', undefined],
    ['SMTP_PASS', 'secret', undefined],
    ['SMTP_MAX_FREQUENCY', 'duration', '900 for sign-up confirmations, 60 for links and recovery'],
    ['SMTP_SENDER_NAME', 'text', 'AUTH_SMTP_ADMIN_EMAIL'],
    ['MAILER_AUTOCONFIRM', 'flag', 'false'],
    ['MAILER_OTP_EXP', 'duration', '86400'],
    ['MAILER_SUBJECTS_INVITE', 'text', 'You have been invited'],
    ['MAILER_SUBJECTS_CONFIRMATION', 'text', 'Confirm Your Signup'],
    ['MAILER_SUBJECTS_RECOVERY', 'text', 'Reset Your Password'],
    ['MAILER_SUBJECTS_MAGIC_LINK', 'text', 'Your Magic Link'],
    ['MAILER_SUBJECTS_EMAIL_CHANGE', 'text', 'Confirm Email Change'],
    ...['INVITE', 'CONFIRMATION', 'RECOVERY', 'MAGIC_LINK', 'EMAIL_CHANGE'].map((kind): [string, string, undefined] => [
      `MAILER_TEMPLATES_${kind}`,
      'text',
      undefined,
    ]),
    ...['INVITE', 'CONFIRMATION', 'RECOVERY', 'EMAIL_CHANGE'].map((kind): [string, string, string] => [
      `MAILER_URLPATHS_${kind}`,
      'text',
      '/verify',
    ]),
    ['SMS_AUTOCONFIRM', 'flag', 'false'],
    ['SMS_MAX_FREQUENCY', 'duration', '60'],
    ['SMS_OTP_EXP', 'duration', '60'],
    ['SMS_OTP_LENGTH', 'whole number', '6'],
    ['SMS_PROVIDER', 'choice', undefined],
    ...[
      'TWILIO_ACCOUNT_SID',
      'TWILIO_AUTH_TOKEN',
      'TWILIO_MESSAGE_SERVICE_SID',
      'MESSAGEBIRD_ACCESS_KEY',
      'MESSAGEBIRD_ORIGINATOR',
      'TEXTLOCAL_API_KEY',
      'TEXTLOCAL_SENDER',
      'VONAGE_API_KEY',
      'VONAGE_API_SECRET',
      'VONAGE_FROM',
    ].map((credential): [string, string, undefined] => [`SMS_${credential}`, 'secret', undefined]),
  ])('AUTH_%s is an optional %s, by default %s', (name, kind, fallback) => {
    expect(declared.get(`AUTH_${name}`)).toMatchObject({ kind, fallback, required: false })
  })

  test.each([
    ['SITE_URL', 'address'],
    ['API_EXTERNAL_URL', 'address'],
    ['DB_DRIVER', 'choice'],
    ['DB_DATABASE_URL', 'secret'],
    ['JWT_SECRET', 'secret'],
  ])('AUTH_%s is required', (name, kind) => {
    expect(declared.get(`AUTH_${name}`)).toMatchObject({ kind, required: true })
  })

  test.each([
    ['AUTH_API_PORT', 'PORT'],
    ['AUTH_DB_DATABASE_URL', 'DATABASE_URL'],
    ['AUTH_LOG_LEVEL', 'LOG_LEVEL'],
    ['AUTH_API_EXTERNAL_URL', 'API_EXTERNAL_URL'],
    ['AUTH_OTEL_EXPORTER_PROMETHEUS_PORT', 'OTEL_EXPORTER_PROMETHEUS_PORT'],
  ])('%s is also read as %s', (name, other) => {
    expect(declared.get(name)?.otherNames).toContain(other)
  })

  const published =
    'apple azure bitbucket discord facebook figma github gitlab google keycloak linkedin notion slack snapchat spotify twitch twitter workos'

  test.each(published.split(' '))('%s has the five settings of a provider', (provider) => {
    const block = `AUTH_EXTERNAL_${provider.toUpperCase()}`
    const requiredWhen = `${block}_ENABLED is true`
    expect(declared.get(`${block}_ENABLED`)).toMatchObject({ kind: 'flag', fallback: 'false', required: false })
    expect(declared.get(`${block}_CLIENT_ID`)).toMatchObject({ kind: 'list', requiredWhen })
    expect(declared.get(`${block}_SECRET`)).toMatchObject({ kind: 'secret', requiredWhen })
    expect(declared.get(`${block}_REDIRECT_URI`)).toMatchObject({ kind: 'address', requiredWhen })
    expect(declared.get(`${block}_URL`)).toMatchObject({
      kind: 'address',
      fallback: provider === 'keycloak' ? undefined : expect.stringMatching(/^https:\/\//),
    })
  })

  test('every default can be copied into a file, but for those that depend', () => {
    const told = settings.declared.filter(({ fallbackInWords }) => fallbackInWords).map(({ name }) => name)
    expect(told).toEqual(['AUTH_WORKERS', 'AUTH_SMTP_SENDER_NAME', 'AUTH_SMTP_MAX_FREQUENCY'])
  })

  test('no setting is declared twice, and each has a sentence', () => {
    expect(declared.size).toBe(settings.declared.length)
    expect(settings.declared.filter(({ sentence }) => sentence === '' || sentence.endsWith('.'))).toEqual([])
  })
})

describe('what becomes required', () => {
  test('an empty environment is told everything that is missing, mail included, because email is on by default', () => {
    expect(complaintsOf({}).toSorted()).toEqual(Object.keys(required).toSorted())
  })

  test('without email nothing of mail is required', () => {
    const env = { ...required, AUTH_SMTP_HOST: '', AUTH_SMTP_PORT: '', AUTH_SMTP_ADMIN_EMAIL: '' }
    expect(complaintsOf({ ...env, AUTH_EXTERNAL_EMAIL_ENABLED: 'false' })).toEqual([])
    expect(complaintsOf(env)).toEqual(['AUTH_SMTP_HOST', 'AUTH_SMTP_PORT', 'AUTH_SMTP_ADMIN_EMAIL'])
  })

  test.each<[string, Env, string[]]>([
    ['a captcha', { AUTH_SECURITY_CAPTCHA_ENABLED: 'true' }, ['AUTH_SECURITY_CAPTCHA_SECRET']],
    [
      'a provider',
      { AUTH_EXTERNAL_GITHUB_ENABLED: 'true' },
      ['AUTH_EXTERNAL_GITHUB_CLIENT_ID', 'AUTH_EXTERNAL_GITHUB_SECRET', 'AUTH_EXTERNAL_GITHUB_REDIRECT_URI'],
    ],
    [
      'a provider with an address of its own',
      { GOTRUE_EXTERNAL_KEYCLOAK_ENABLED: '1', AUTH_EXTERNAL_KEYCLOAK_CLIENT_ID: ',' },
      [
        'AUTH_EXTERNAL_KEYCLOAK_CLIENT_ID',
        'AUTH_EXTERNAL_KEYCLOAK_SECRET',
        'AUTH_EXTERNAL_KEYCLOAK_REDIRECT_URI',
        'AUTH_EXTERNAL_KEYCLOAK_URL',
      ],
    ],
    [
      'an SMS gateway',
      { AUTH_SMS_PROVIDER: 'twilio' },
      ['AUTH_SMS_TWILIO_ACCOUNT_SID', 'AUTH_SMS_TWILIO_AUTH_TOKEN', 'AUTH_SMS_TWILIO_MESSAGE_SERVICE_SID'],
    ],
    [
      'another SMS gateway',
      { AUTH_SMS_PROVIDER: 'messagebird', AUTH_SMS_MESSAGEBIRD_ACCESS_KEY: 'k' },
      ['AUTH_SMS_MESSAGEBIRD_ORIGINATOR'],
    ],
    ['a gateway that does not exist', { AUTH_SMS_PROVIDER: 'pigeon' }, ['AUTH_SMS_PROVIDER']],
    ['another database', { AUTH_DB_DRIVER: 'mysql' }, ['AUTH_DB_DRIVER']],
    [
      'a header that cannot be one',
      { AUTH_CORS_ALLOWED_HEADERS: 'X-A, X B', AUTH_RATE_LIMIT_HEADER: 'X:A' },
      ['AUTH_CORS_ALLOWED_HEADERS', 'AUTH_RATE_LIMIT_HEADER'],
    ],
    ['a rate that is none', { AUTH_RATE_LIMIT_EMAIL_SENT: 'many' }, ['AUTH_RATE_LIMIT_EMAIL_SENT']],
  ])('%s', (_, env, complaints) => {
    expect(complaintsOf({ ...required, ...env })).toEqual(complaints)
  })

  test('a provider that has all it needs is taken as it is, its redirect address to the letter', () => {
    const { external } = configOf({
      AUTH_EXTERNAL_GITLAB_ENABLED: 'true',
      AUTH_EXTERNAL_GITLAB_CLIENT_ID: 'first, second',
      AUTH_EXTERNAL_GITLAB_SECRET: 'hunter2',
      AUTH_EXTERNAL_GITLAB_REDIRECT_URI: 'https://auth.site.test/callback/',
    })
    expect(external.providers.get('gitlab')).toMatchObject({
      enabled: true,
      clientIds: ['first', 'second'],
      redirectUri: 'https://auth.site.test/callback/',
      base: 'https://gitlab.com',
    })
  })
})

describe('values', () => {
  test('defaults are those of the specification and the rulings', () => {
    expect(configOf()).toMatchObject({
      siteUrl: 'https://site.test',
      jwt: { lifetime: 3600, audience: '', adminRoles: ['service_role', 'supabase_admin'] },
      rateLimit: { header: undefined, emailSent: { most: 30, amount: 30, seconds: 3600 } },
      security: { refreshTokenRotation: true, refreshTokenReuseInterval: 10 },
      smtp: { senderName: 'no-reply@site.test', maxFrequency: undefined, mailer: { otpLifetime: 86_400 } },
      sms: { provider: undefined, maxFrequency: 60 },
    })
  })

  test('intervals are seconds or durations, and zero is none', () => {
    const config = configOf({ AUTH_SMTP_MAX_FREQUENCY: '0', AUTH_SMS_MAX_FREQUENCY: '1m30s', AUTH_JWT_EXP: '1h' })
    expect([config.smtp.maxFrequency, config.sms.maxFrequency, config.jwt.lifetime]).toEqual([0, 90, 3600])
  })

  test.each(['standard', 'strict'])(
    'links do their work at once unless a page is asked for, in the %s profile too',
    (profile) => {
      const linkPage = (env: Env) => configOf({ AUTH_SECURITY_PROFILE: profile, ...env }).smtp.mailer.linkPage
      expect([linkPage({}), linkPage({ AUTH_MAILER_LINK_PAGE_ENABLED: 'true' })]).toEqual([false, true])
    },
  )

  test.each(['/mail/{locale}/invite.html', 'https://site.test/{locale}.html', 'https://site.test/invite?in={locale}'])(
    'a template may be at %s',
    (location) => {
      expect(configOf({ AUTH_MAILER_TEMPLATES_INVITE: location }).smtp.mailer.templates.invite).toBe(location)
    },
  )

  test('no secret can be printed', () => {
    const printed = JSON.stringify(configOf({ AUTH_SMTP_PASS: 'hunter2', AUTH_SMS_VONAGE_API_SECRET: 'hunter2' }))
    expect(printed).not.toContain('hunter2')
    expect(printed).not.toContain('only tests know')
  })
})

describe('the strict profile', () => {
  test('changes defaults, and what is set wins', () => {
    const { password, jwt, smtp, sessions, security, rateLimit } = configOf({
      AUTH_SECURITY_PROFILE: 'strict',
      AUTH_JWT_EXP: '600',
    })
    expect(password).toMatchObject({ minLength: 15, breach: { enabled: true } })
    expect(jwt.lifetime).toBe(600)
    expect(smtp.mailer).toMatchObject({ otpLifetime: 600, notifications: { passwordChanged: true } })
    expect(sessions).toMatchObject({ timebox: 2_592_000, inactivityTimeout: 1_209_600 })
    expect(security).toMatchObject({
      strictLogout: true,
      passwordChangeNeedsNonce: true,
      passwordChangeNeedsCurrent: true,
      plainChallenges: false,
    })
    expect(rateLimit.byAddress).toBe(true)
  })

  test('insists on a secret that nobody finds by trying, and says so without a letter of it', () => {
    const short = { ...required, AUTH_JWT_SECRET: 'swordfish swordfish swordfish 1' }
    const complaint = 'AUTH_JWT_SECRET must have 32 bytes or more, not 31: whoever sees a token can find a shorter one by trying.'
    const strict = () => settings.read({ ...short, AUTH_SECURITY_PROFILE: 'strict' })
    expect(strict).toThrow(complaint)
    expect(strict).not.toThrow('swordfish')
    // Those who come from elsewhere hear of it.
    expect(settings.read(short).warnings).toEqual([expect.stringContaining(complaint)])
    // Bytes, not characters.
    for (const long of ['x'.repeat(32), '\u00f8'.repeat(16)])
      expect(settings.read({ ...required, AUTH_JWT_SECRET: long, AUTH_SECURITY_PROFILE: 'strict' }).warnings).toEqual([])
    // One that is missing is only told to be missing.
    expect(complaintsOf({ ...required, AUTH_JWT_SECRET: '', AUTH_SECURITY_PROFILE: 'strict' })).toEqual(['AUTH_JWT_SECRET'])
  })

  test('is told in the guide with the right defaults beside it', () => {
    const guide = readFileSync(new URL('../../../docs/guides/protection.md', import.meta.url), 'utf8')
    const rows = [...guide.matchAll(/^\| `([A-Z_]+)` \| (\S+) \|/gm)].map(([, name, standard]) => [name, standard])
    expect(rows).toHaveLength(10)
    expect(rows).toEqual(rows.map(([name]) => [name, declared.get(`AUTH_${name}`)?.fallback ?? 'none']))
  })
})

describe('globs of the allow list', () => {
  test('are divided by commas that are not inside of braces', () => {
    expect(configOf({ AUTH_URI_ALLOW_LIST: 'https://{a,b}.test/**, app://x ,' }).uriAllowList).toEqual([
      'https://{a,b}.test/**',
      'app://x',
    ])
  })

  test('that are none are complained about at start', () => {
    expect(complaintsOf({ ...required, AUTH_URI_ALLOW_LIST: 'https://a.test/[' })).toEqual(['AUTH_URI_ALLOW_LIST'])
  })
})

test.each<[string, string]>([
  ['AUTH_SMS_TEST_OTP', 'nonsense'],
  ['AUTH_SMS_TEST_OTP_VALID_UNTIL', 'tomorrow'],
  ['AUTH_SMTP_HEADERS', '{"X-Kind":"no list"}'],
  ['AUTH_SMTP_HEADERS', 'nonsense'],
  ['AUTH_SMS_TEMPLATE', 'no code'],
  ['AUTH_SECURITY_SIGNUP_DECOY', 'none'],
  ['AUTH_MAILER_OTP_LENGTH', '5'],
  ['AUTH_MAILER_TEMPLATES_INVITE', 'https://{locale}.site.test/invite.html'],
  ['AUTH_MAILER_TEMPLATES_INVITE', 'https://site.{locale}/invite.html'],
  ['AUTH_EXTERNAL_FLOW_STATE_EXPIRY_DURATION', '1m'],
])('%s cannot be %j', (name, value) => {
  expect(complaintsOf({ ...required, [name]: value })).toEqual([name])
})
