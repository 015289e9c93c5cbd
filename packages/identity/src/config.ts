import { type ConfigOf, defineSettings, type Read } from '@tollgate/kit/env'
import { isHeaderName, parseHeaderNames } from '@tollgate/kit/header-names'
import { parseKeySet } from '@tollgate/kit/jwt'
import { serviceSettings } from '@tollgate/kit/service-settings'
import { type ProviderName, providers } from './providers/all.ts'
import { parseCharacterSets } from './rules/character-sets.ts'
import { parseRate } from './rules/rate.ts'
import { gateways } from './sms/all.ts'

const family = { prefix: 'AUTH', aliases: ['GOTRUE'], title: 'the identity service' }

export const settings = defineSettings(family, (read) => ({
  ...read.group('General', () => ({
    siteUrl: read.requiredUrl('SITE_URL', 'The address of your site: where links lead and what redirects are checked against'),
    uriAllowList: read.list('URI_ALLOW_LIST', [], 'Globs of further addresses that redirect_to may name', {
      example: 'https://*.example.com/**',
    }),
    externalUrl: read.requiredUrl('API_EXTERNAL_URL', 'The address under which callers reach this service', {
      bare: true,
      example: 'https://auth.example.com',
    }),
    disableSignup: read.flag('DISABLE_SIGNUP', false, 'Only invited people can join'),
    corsAllowedHeaders: read.parsed(
      'list',
      'CORS_ALLOWED_HEADERS',
      [],
      'Request headers that pages of other origins may send, besides the usual ones',
      (text) => parseHeaderNames(text) ?? { expected: 'names of headers, divided by commas' },
      { example: 'X-Shop,X-Device' },
    ),
  })),

  ...serviceSettings(read, { port: 8081, namespace: 'auth', bareNamespace: true, driverRequired: true }),

  jwt: read.group('Tokens', () => ({
    secret: read.requiredSecret('JWT_SECRET', 'The secret that access tokens are signed with', {
      example: 'a random text of 32 characters or more',
    }),
    keyId: read.text('JWT_KEY_ID', undefined, 'The kid of the secret, for tokens that are signed with it'),
    keys: read.parsed(
      'JWK set',
      'JWT_KEYS',
      undefined,
      'Keys that sign and verify instead of the secret: a JWK set in JSON, one key of which signs',
      parseKeySet,
      { secret: true },
    ),
    issuer: read.text('JWT_ISSUER', undefined, 'Who issues tokens, as they say in iss', { example: 'https://auth.example.com' }),
    lifetime: read.seconds('JWT_EXP', 3600, 'How long an access token is valid', { min: 1 }),
    audience: read.text('JWT_AUD', '', 'The audience of tokens when the request names none', { example: 'authenticated' }),
    adminRoles: read.list('JWT_ADMIN_ROLES', ['service_role', 'supabase_admin'], 'Roles that may call the admin endpoints'),
    adminGroup: read.text('JWT_ADMIN_GROUP_NAME', 'admin', 'The role that may change app_metadata (inherited, unsupported)'),
    defaultGroup: read.text('JWT_DEFAULT_GROUP_NAME', '', 'The role of new users (inherited, unsupported)', {
      example: 'authenticated',
    }),
  })),

  rateLimit: read.group('Rate limits', () => ({
    header: read.parsed(
      'header',
      'RATE_LIMIT_HEADER',
      undefined,
      'The header that tells callers apart, set by your proxy',
      (text) => (isHeaderName(text) ? text : { expected: 'the name of a header' }),
      { example: 'X-Forwarded-For' },
    ),
    emailSent: read.parsed(
      'rate',
      'RATE_LIMIT_EMAIL_SENT',
      { events: 30, seconds: 3600 },
      'How many mails may be sent: a number an hour, or a number and a duration',
      (text) => parseRate(text) ?? { expected: 'a number an hour such as 30, or a rate such as 10/5m' },
      { shown: '30', example: '10/5m' },
    ),
  })),

  password: read.group('Passwords', () => ({
    minLength: read.whole('PASSWORD_MIN_LENGTH', 6, 'The least length of a password', { min: 1, max: 72 }),
    requiredCharacters: read.parsed(
      'sets',
      'PASSWORD_REQUIRED_CHARACTERS',
      [],
      'Sets of characters, one of each of which a password needs, divided by colons',
      parseCharacterSets,
      {
        example: 'abcdefghijklmnopqrstuvwxyz:0123456789',
      },
    ),
  })),

  security: read.group('Security', () => {
    const captcha = read.flag(
      'SECURITY_CAPTCHA_ENABLED',
      false,
      'Ask for a captcha where strangers can make us send or create something',
    )
    return {
      refreshTokenRotation: read.flag(
        'SECURITY_REFRESH_TOKEN_ROTATION_ENABLED',
        true,
        'Every refresh gives a new refresh token, and using an old one again is an attack',
      ),
      refreshTokenReuseInterval: read.seconds(
        'SECURITY_REFRESH_TOKEN_REUSE_INTERVAL',
        10,
        'For how long the previous refresh token may be presented again',
      ),
      passwordChangeNeedsNonce: read.flag(
        'SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION',
        false,
        'A new password needs a nonce from GET /reauthenticate',
      ),
      strictLogout: read.flag(
        'SECURITY_STRICT_LOGOUT',
        false,
        'Refuse the access tokens of a session that was logged out, instead of letting them expire',
      ),
      captcha: {
        enabled: captcha,
        provider: read.choice('SECURITY_CAPTCHA_PROVIDER', ['hcaptcha', 'turnstile'], 'hcaptcha', 'Who checks captchas'),
        secret: read.secret('SECURITY_CAPTCHA_SECRET', 'The secret of the captcha provider', {
          required: { when: captcha, because: 'AUTH_SECURITY_CAPTCHA_ENABLED is true' },
        }),
        timeout: read.seconds('SECURITY_CAPTCHA_TIMEOUT', 10, 'How long the captcha provider may take', { min: 0.1, max: 60 }),
      },
    }
  }),

  sessions: read.group('Sessions', () => ({
    timebox: read.seconds('SESSIONS_TIMEBOX', undefined, 'How long a session lasts at most; for ever when not set', { min: 1 }),
    inactivityTimeout: read.seconds(
      'SESSIONS_INACTIVITY_TIMEOUT',
      undefined,
      'How long a session lasts without a refresh; for ever when not set',
      { min: 1 },
    ),
  })),

  external: read.group('Ways to sign in', () => ({
    email: read.flag('EXTERNAL_EMAIL_ENABLED', true, 'People can sign up and in with an email address'),
    phone: read.flag('EXTERNAL_PHONE_ENABLED', false, 'People can sign up and in with a phone number'),
    anonymousUsers: read.flag('EXTERNAL_ANONYMOUS_USERS_ENABLED', false, 'People can start without saying who they are'),
    providers: Object.fromEntries(providers.map((provider) => [provider.name, providerSettings(read, provider)])) as Record<
      ProviderName,
      ProviderSettings
    >,
  })),

  smtp: read.group('Mail', () => {
    const required = { when: read.peekFlag('EXTERNAL_EMAIL_ENABLED', true), because: 'AUTH_EXTERNAL_EMAIL_ENABLED is true' }
    const adminEmail = read.text('SMTP_ADMIN_EMAIL', '', 'The address that mails come from', {
      required,
      example: 'no-reply@example.com',
    })
    return {
      host: read.text('SMTP_HOST', '', 'The mail server', { required, example: 'smtp.example.com' }),
      port: read.whole('SMTP_PORT', 587, 'The port of the mail server', {
        required,
        min: 1,
        max: 65_535,
        example: '587',
      }),
      user: read.text('SMTP_USER', undefined, 'The user name at the mail server'),
      pass: read.secret('SMTP_PASS', 'The password at the mail server'),
      adminEmail,
      senderName: read.text('SMTP_SENDER_NAME', adminEmail, 'The name that mails come from', { shown: 'AUTH_SMTP_ADMIN_EMAIL' }),
      maxFrequency: read.seconds(
        'SMTP_MAX_FREQUENCY',
        undefined,
        'The least time between two mails of a kind to one address; 0 for none',
        { shown: '900 for sign-up confirmations, 60 for links and recovery' },
      ),
      mailer: {
        autoconfirm: read.flag('MAILER_AUTOCONFIRM', false, 'Take email addresses as confirmed without a mail'),
        otpLifetime: read.seconds('MAILER_OTP_EXP', 86_400, 'How long a link or code sent by mail is valid', { min: 1 }),
        subjects: {
          invite: read.text('MAILER_SUBJECTS_INVITE', 'You have been invited', 'The subject of invitations'),
          confirmation: read.text('MAILER_SUBJECTS_CONFIRMATION', 'Confirm Your Signup', 'The subject of sign-up confirmations'),
          recovery: read.text('MAILER_SUBJECTS_RECOVERY', 'Reset Your Password', 'The subject of recovery mails'),
          magicLink: read.text('MAILER_SUBJECTS_MAGIC_LINK', 'Your Magic Link', 'The subject of magic links'),
          emailChange: read.text(
            'MAILER_SUBJECTS_EMAIL_CHANGE',
            'Confirm Email Change',
            'The subject of email change confirmations',
          ),
        },
        templates: {
          invite: read.text(
            'MAILER_TEMPLATES_INVITE',
            undefined,
            'A URL path to the template of invitations, instead of the built-in one',
          ),
          confirmation: read.text('MAILER_TEMPLATES_CONFIRMATION', undefined, 'The same for sign-up confirmations'),
          recovery: read.text('MAILER_TEMPLATES_RECOVERY', undefined, 'The same for recovery mails'),
          magicLink: read.text('MAILER_TEMPLATES_MAGIC_LINK', undefined, 'The same for magic links'),
          emailChange: read.text('MAILER_TEMPLATES_EMAIL_CHANGE', undefined, 'The same for email change confirmations'),
        },
        urlPaths: {
          invite: read.text('MAILER_URLPATHS_INVITE', '/verify', 'The path of the link in invitations'),
          confirmation: read.text('MAILER_URLPATHS_CONFIRMATION', '/verify', 'The path of the link in sign-up confirmations'),
          recovery: read.text('MAILER_URLPATHS_RECOVERY', '/verify', 'The path of the link in recovery mails and magic links'),
          emailChange: read.text('MAILER_URLPATHS_EMAIL_CHANGE', '/verify', 'The path of the link in email change confirmations'),
        },
      },
    }
  }),

  sms: read.group('SMS', () => {
    const provider = read.choice(
      'SMS_PROVIDER',
      gateways.map((gateway) => gateway.name),
      undefined,
      'Who delivers SMS',
    )
    return {
      provider,
      autoconfirm: read.flag('SMS_AUTOCONFIRM', false, 'Take phone numbers as confirmed without a code'),
      maxFrequency: read.seconds('SMS_MAX_FREQUENCY', 60, 'The least time between two SMS to one number'),
      otpLifetime: read.seconds('SMS_OTP_EXP', 60, 'How long a code sent by SMS is valid', { min: 1 }),
      otpLength: read.whole('SMS_OTP_LENGTH', 6, 'The digits of a code sent by SMS', { min: 6, max: 10 }),
      credentials: Object.fromEntries(gateways.map((gateway) => [gateway.name, gatewaySettings(read, gateway, provider)])),
    }
  }),
}))

export type Config = ConfigOf<typeof settings>

type ProviderSettings = ReturnType<typeof providerSettings>

function providerSettings(read: Read, provider: { name: string; base?: string; needsBase?: true }) {
  const block = `EXTERNAL_${provider.name.toUpperCase()}`
  const enabled = read.flag(`${block}_ENABLED`, false, `People can sign in with ${provider.name}`)
  const required = { when: enabled, because: `AUTH_${block}_ENABLED is true` }
  return {
    enabled,
    clientIds: read.list(`${block}_CLIENT_ID`, [], 'The client id; further ones are accepted in id tokens', { required }),
    secret: read.secret(`${block}_SECRET`, 'The client secret', { required }),
    redirectUri: read.exactUrl(
      `${block}_REDIRECT_URI`,
      undefined,
      'Where the provider sends people back to: this service and /callback',
      {
        required,
        example: 'https://auth.example.com/callback',
      },
    ),
    base: read.url(`${block}_URL`, provider.base, 'The base address of the provider, where it is not the public one', {
      required: provider.needsBase ? required : false,
      example: provider.base ?? `https://${provider.name}.example.com`,
    }),
  }
}

function gatewaySettings(read: Read, gateway: (typeof gateways)[number], chosen: string | undefined) {
  const required = { when: gateway.name === chosen, because: `AUTH_SMS_PROVIDER is ${gateway.name}` }
  const entries = Object.entries(gateway.credentials).map(([credential, sentence]) => {
    const name = `SMS_${gateway.name.toUpperCase()}_${credential}`
    return [credential, read.secret(name, `${sentence}, at ${gateway.name}`, { required })]
  })
  return Object.fromEntries(entries) as Record<string, ReturnType<typeof read.secret>>
}
