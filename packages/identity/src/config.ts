import { type ConfigOf, defineSettings, type Read } from '@tollgate/kit/env'
import { isHeaderName, parseHeaderNames } from '@tollgate/kit/header-names'
import { parseKeySet } from '@tollgate/kit/jwt'
import { serviceSettings } from '@tollgate/kit/service-settings'
import { smtpSettings } from '@tollgate/kit/smtp-settings'
import { parseMailHeaders } from './mail/custom-headers.ts'
import { type MailKind, mailKinds } from './mail/kinds.ts'
import { parseTemplateLocation } from './mail/localized-templates.ts'
import { providers } from './providers/all.ts'
import { customProviders, type ProviderSettings, providerSettings } from './providers/provider-settings.ts'
import { parseCharacterSets } from './rules/character-sets.ts'
import { parseGlobs } from './rules/glob.ts'
import { parseMoment } from './rules/moment.ts'
import { parseForbiddenWords } from './rules/password.ts'
import { hourlyPerCaller, perCaller, rate } from './rules/rate-settings.ts'
import { parseTestCodes } from './rules/test-codes.ts'
import { type GatewayName, gateways } from './sms/all.ts'
import { gatewaySettings } from './sms/gateway-settings.ts'
import { parseSmsTemplate } from './sms/template.ts'

const family = { prefix: 'AUTH', aliases: ['GOTRUE'], title: 'the identity service' }

const day = 86_400
const defaultSmsTemplate = 'Your code is {{ .Code }}'

export const settings = defineSettings(family, (read) => {
  const general = read.group('General', () => ({
    siteUrl: read.requiredUrl('SITE_URL', 'The address of your site: where links lead and what redirects are checked against'),
    uriAllowList: read.parsed('list', 'URI_ALLOW_LIST', [], 'Globs of further addresses that redirect_to may name', parseGlobs, {
      example: 'https://*.example.com/**',
    }),
    externalUrl: read.requiredUrl('API_EXTERNAL_URL', 'The address under which callers reach this service', {
      bare: true,
      example: 'https://auth.example.com',
    }),
    profile: read.choice(
      'SECURITY_PROFILE',
      ['standard', 'strict'],
      'standard',
      'Which defaults the settings below have: those that today’s clients expect, or those that OWASP ASVS 5, NIST 800-63B-4 and RFC 9700 ask for',
    ),
    disableSignup: read.flag('DISABLE_SIGNUP', false, 'Only invited people can join'),
    corsAllowedHeaders: read.parsed(
      'list',
      'CORS_ALLOWED_HEADERS',
      [],
      'Request headers that pages of other origins may send, besides the usual ones',
      (text) => parseHeaderNames(text) ?? { expected: 'names of headers, divided by commas' },
      { example: 'X-Shop,X-Device' },
    ),
    outsideTimeout: read.seconds('INTERNAL_HTTP_TIMEOUT', 10, 'How long other services may take to answer us', {
      min: 0.1,
      max: 60,
    }),
    auditInDatabase: !read.flag('AUDIT_LOG_DISABLE_POSTGRES', false, 'Write who did what to the log alone, not into a table'),
  }))
  const strict = general.profile === 'strict'
  return {
    ...general,

    ...serviceSettings(read, { port: 8081, namespace: 'auth', bareNamespace: true, driverRequired: true }),

    jwt: read.group('Tokens', () => ({
      secret: signingSecret(read, strict),
      keyId: read.text('JWT_KEY_ID', undefined, 'The kid of the secret, for tokens that are signed with it'),
      keys: read.parsed(
        'JWK set',
        'JWT_KEYS',
        undefined,
        'Keys that sign and verify instead of the secret: a JWK set in JSON, one key of which signs',
        parseKeySet,
        { secret: true },
      ),
      issuer: read.text('JWT_ISSUER', undefined, 'Who issues tokens, as they say in iss', {
        example: 'https://auth.example.com',
      }),
      algorithms: read.parsed(
        'list',
        'JWT_VALID_METHODS',
        undefined,
        'Algorithms that tokens may be signed with; those of the keys when not set',
        (text) => text.split(',').map((name) => name.trim()),
        { example: 'ES256,HS256' },
      ),
      lifetime: read.seconds('JWT_EXP', strict ? 900 : 3600, 'How long an access token is valid', { min: 1 }),
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
      /** Whether somebody whom the header does not tell apart is told apart by their address. */
      byAddress: strict,
      emailSent: rate(read, 'RATE_LIMIT_EMAIL_SENT', 'How many mails may be sent'),
      smsSent: rate(read, 'RATE_LIMIT_SMS_SENT', 'How many SMS may be sent'),
      otp: perCaller(read, 'RATE_LIMIT_OTP', 30, 'each of /signup, /otp, /magiclink, /recover, /resend and PUT /user'),
      verify: perCaller(read, 'RATE_LIMIT_VERIFY', 30, '/verify'),
      token: perCaller(read, 'RATE_LIMIT_TOKEN_REFRESH', 150, '/token'),
      anonymousUsers: hourlyPerCaller(read, 'RATE_LIMIT_ANONYMOUS_USERS', 30, 'anonymous sign-ups'),
    })),

    password: read.group('Passwords', () => ({
      minLength: read.whole('PASSWORD_MIN_LENGTH', strict ? 15 : 6, 'The least length of a password', { min: 1, max: 72 }),
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
      forbiddenWords: read.parsed(
        'list',
        'PASSWORD_FORBIDDEN_WORDS',
        [],
        'Words that no password may contain, in capitals or not: your own name, that of the product, of the town',
        parseForbiddenWords,
        { example: 'acme,rocket' },
      ),
      hashQueue: read.whole(
        'PASSWORD_HASH_QUEUE',
        64,
        'How many passwords may wait to be hashed before callers are told to come back',
        {
          max: 10_000,
        },
      ),
      breach: {
        enabled: read.flag('PASSWORD_HIBP_ENABLED', strict, 'Refuse passwords that are on the list of those stolen elsewhere'),
        failClosed: read.flag('PASSWORD_HIBP_FAIL_CLOSED', false, 'Refuse every password while that list does not answer'),
        userAgent: read.text('PASSWORD_HIBP_USER_AGENT', 'Tollgate', 'How we introduce ourselves to that list'),
        base: read.url('PASSWORD_HIBP_URL', 'https://api.pwnedpasswords.com', 'The address of that list, or of a mirror'),
      },
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
          strict,
          'A new password needs a nonce from GET /reauthenticate',
        ),
        strictLogout: read.flag(
          'SECURITY_STRICT_LOGOUT',
          strict,
          'Refuse the access tokens of a session that was logged out, instead of letting them expire',
        ),
        passwordChangeNeedsCurrent: read.flag(
          'SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD',
          strict,
          'A new password needs the current one, unless the session was entered by a link or code',
        ),
        manualLinking: read.flag(
          'SECURITY_MANUAL_LINKING_ENABLED',
          false,
          'People can link and unlink identities of their account themselves',
        ),
        linking: read.choice(
          'SECURITY_LINKING',
          ['verified', 'never'],
          'verified',
          'Whether a sign-in with a provider opens the account that has the same address, where the provider vouches for it; never on an address that it does not vouch for',
        ),
        signupDecoy: read.choice(
          'SECURITY_SIGNUP_DECOY',
          ['complete', 'reference'],
          'complete',
          'What a sign-up for an address that has an account is answered with: something like any other answer, or the reference’s with empty identities',
        ),
        plainChallenges: read.flag(
          'SECURITY_PLAIN_CODE_CHALLENGES',
          !strict,
          'Take PKCE challenges of the method plain, not only S256',
        ),
        allowPrivateAddresses: read.flag(
          'SECURITY_ALLOW_PRIVATE_ADDRESSES',
          false,
          'Let configured addresses of other services be on this machine or in a private network',
        ),
        captcha: {
          enabled: captcha,
          provider: read.choice('SECURITY_CAPTCHA_PROVIDER', ['hcaptcha', 'turnstile'], 'hcaptcha', 'Who checks captchas'),
          secret: read.secret('SECURITY_CAPTCHA_SECRET', 'The secret of the captcha provider', {
            required: { when: captcha, because: 'AUTH_SECURITY_CAPTCHA_ENABLED is true' },
          }),
          timeout: read.seconds('SECURITY_CAPTCHA_TIMEOUT', 10, 'How long the captcha provider may take', { min: 0.1, max: 60 }),
          base: read.url(
            'SECURITY_CAPTCHA_URL',
            undefined,
            'The address that checks captchas, where it is not the provider’s public one',
          ),
        },
      }
    }),

    sessions: read.group('Sessions', () => ({
      timebox: read.seconds(
        'SESSIONS_TIMEBOX',
        strict ? 30 * day : undefined,
        'How long a session lasts at most; for ever when not set',
        { min: 1 },
      ),
      inactivityTimeout: read.seconds(
        'SESSIONS_INACTIVITY_TIMEOUT',
        strict ? 14 * day : undefined,
        'How long a session lasts without a refresh; for ever when not set',
        { min: 1 },
      ),
      singlePerUser: read.flag('SESSIONS_SINGLE_PER_USER', false, 'Somebody’s newest session ends their other ones'),
    })),

    external: read.group('Ways to sign in', () => ({
      email: read.flag('EXTERNAL_EMAIL_ENABLED', true, 'People can sign up and in with an email address'),
      magicLink: read.flag('EXTERNAL_EMAIL_MAGIC_LINK_ENABLED', true, 'People can sign in with a link or code by mail'),
      authorizedAddresses: read.list(
        'EXTERNAL_EMAIL_AUTHORIZED_ADDRESSES',
        [],
        'The only addresses that mail is sent to, whatever +label they have; all when not set',
      ),
      flowLifetime: read.seconds('EXTERNAL_FLOW_STATE_EXPIRY_DURATION', 300, 'How long a PKCE code is valid', { min: 300 }),
      destination: read.exactUrl(
        'EXTERNAL_REDIRECTURL',
        undefined,
        'Where everybody goes after a sign-in with a provider, whatever was asked for',
      ),
      providerTokens: read.choice(
        'EXTERNAL_PROVIDER_TOKENS',
        ['requested', 'always'],
        'requested',
        'When the provider’s own tokens are told: when more scopes were asked for than the usual ones, or always',
      ),
      phone: read.flag('EXTERNAL_PHONE_ENABLED', false, 'People can sign up and in with a phone number'),
      anonymousUsers: read.flag('EXTERNAL_ANONYMOUS_USERS_ENABLED', false, 'People can start without saying who they are'),
      providers: new Map(providers.map((provider) => [provider.name, providerSettings(read, provider)])) as ReadonlyMap<
        string,
        ProviderSettings
      >,
      customProviders: customProviders(read),
    })),

    smtp: read.group('Mail', () => {
      const required = { when: read.peekFlag('EXTERNAL_EMAIL_ENABLED', true), because: 'AUTH_EXTERNAL_EMAIL_ENABLED is true' }
      return {
        ...smtpSettings(read, { prefix: 'AUTH', required }),
        headers: read.parsed(
          'headers',
          'SMTP_HEADERS',
          {},
          'Headers of every mail: JSON of names and lists of values',
          parseMailHeaders,
          {
            example: '{"X-Kind":["$messageType"]}',
          },
        ),
        maxFrequency: read.seconds(
          'SMTP_MAX_FREQUENCY',
          undefined,
          'The least time between two mails of a kind to one address; 0 for none',
          { shown: '900 for sign-up confirmations, 60 for links and recovery' },
        ),
        mailer: {
          autoconfirm: read.flag('MAILER_AUTOCONFIRM', false, 'Take email addresses as confirmed without a mail'),
          otpLifetime: read.seconds('MAILER_OTP_EXP', strict ? 600 : 86_400, 'How long a link or code sent by mail is valid', {
            min: 1,
          }),
          allowUnverified: read.flag(
            'MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS',
            false,
            'Let people in with a provider that does not vouch for their address, before they confirm it',
          ),
          otpLength: read.whole('MAILER_OTP_LENGTH', 6, 'The digits of a code sent by mail', { min: 6, max: 10 }),
          secureEmailChange: read.flag(
            'MAILER_SECURE_EMAIL_CHANGE_ENABLED',
            true,
            'A new email address has to be confirmed from the old one, too',
          ),
          linkPage: read.flag(
            'MAILER_LINK_PAGE_ENABLED',
            false,
            'Links in mails open a page with a button first, so that mail scanners do not use them up',
          ),
          externalHosts: read.list(
            'MAILER_EXTERNAL_HOSTS',
            [],
            'Hosts that links may lead to when a request came in by them, instead of AUTH_API_EXTERNAL_URL',
          ),
          templateCache: {
            maxSize: read.whole('MAILER_TEMPLATE_MAX_SIZE', 1_000_000, 'The most bytes of a template', { min: 1 }),
            maxAge: read.seconds('MAILER_TEMPLATE_MAX_AGE', 600, 'After how long a template is fetched anew'),
            retryInterval: read.seconds(
              'MAILER_TEMPLATE_RETRY_INTERVAL',
              10,
              'How soon after a failure a template is fetched again',
            ),
          },
          subjects: byKind((kind) =>
            read.text(
              `MAILER_SUBJECTS_${mailKinds[kind].setting}`,
              mailKinds[kind].subject,
              `The subject of ${mailKinds[kind].about}`,
            ),
          ),
          templates: byKind((kind) =>
            read.parsed(
              'text',
              `MAILER_TEMPLATES_${mailKinds[kind].setting}`,
              undefined,
              `A URL path to the template of ${mailKinds[kind].about}, instead of the built-in one`,
              parseTemplateLocation,
              { example: `/mail/{locale}/${kind}.html` },
            ),
          ),
          notifications: {
            passwordChanged: notification(read, 'PASSWORD_CHANGED', strict, 'their password was changed'),
            emailChanged: notification(read, 'EMAIL_CHANGED', strict, 'their email address was changed'),
            phoneChanged: notification(read, 'PHONE_CHANGED', strict, 'their phone number was changed'),
            identityLinked: notification(read, 'IDENTITY_LINKED', strict, 'a way to sign in was added'),
            identityUnlinked: notification(read, 'IDENTITY_UNLINKED', strict, 'a way to sign in was removed'),
          },
          urlPaths: {
            invite: read.text('MAILER_URLPATHS_INVITE', '/verify', 'The path of the link in invitations'),
            confirmation: read.text('MAILER_URLPATHS_CONFIRMATION', '/verify', 'The path of the link in sign-up confirmations'),
            recovery: read.text('MAILER_URLPATHS_RECOVERY', '/verify', 'The path of the link in recovery mails and magic links'),
            emailChange: read.text(
              'MAILER_URLPATHS_EMAIL_CHANGE',
              '/verify',
              'The path of the link in email change confirmations',
            ),
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
        template: read.parsed(
          'template',
          'SMS_TEMPLATE',
          defaultSmsTemplate,
          'The text of an SMS, with {{ .Code }} where the code goes',
          parseSmsTemplate,
          { shown: defaultSmsTemplate },
        ),
        testCodes: read.parsed(
          'pairs',
          'SMS_TEST_OTP',
          new Map<string, string>(),
          'Numbers that get no SMS and the code that each accepts, for tests of your own',
          parseTestCodes,
          { example: '4512345678:123456' },
        ),
        testCodesUntil: read.parsed(
          'moment',
          'SMS_TEST_OTP_VALID_UNTIL',
          undefined,
          'Until when those codes are accepted',
          parseMoment,
          {
            example: '2027-01-01T00:00:00Z',
          },
        ),
        gateways: Object.fromEntries(
          gateways.map((gateway) => [gateway.name, gatewaySettings(read, gateway, provider)]),
        ) as Record<GatewayName, ReturnType<typeof gatewaySettings>>,
      }
    }),
  }
})

export type Config = ConfigOf<typeof settings>

/** RFC 7518, 3.2: as long as the digest. One of fewer bytes can be guessed, offline, by whoever has a single token. */
const leastSecretBytes = 32

/** Installations that come from elsewhere may have a short one, which their tokens hang on: they are told, and the strict profile insists. */
function signingSecret(read: Read, strict: boolean) {
  const secret = read.requiredSecret('JWT_SECRET', 'The secret that access tokens are signed with', {
    example: 'a random text of 32 characters or more',
  })
  const length = Buffer.byteLength(secret.reveal())
  if (length === 0 || length >= leastSecretBytes) return secret
  const complaint = `AUTH_JWT_SECRET must have ${leastSecretBytes} bytes or more, not ${length}: whoever sees a token can find a shorter one by trying.`
  if (strict) read.insist(false, `${complaint} Make one with: openssl rand -hex 32`)
  else read.warnings.push(`${complaint} AUTH_SECURITY_PROFILE=strict would not start with it`)
  return secret
}

function byKind<T>(of: (kind: MailKind) => T): Readonly<Record<MailKind, T>> {
  return Object.fromEntries(Object.keys(mailKinds).map((kind) => [kind, of(kind as MailKind)])) as Record<MailKind, T>
}

function notification(read: Read, what: string, fallback: boolean, sentence: string): boolean {
  return read.flag(`MAILER_NOTIFICATIONS_${what}_ENABLED`, fallback, `Tell people by mail when ${sentence}`)
}
