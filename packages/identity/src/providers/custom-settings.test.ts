import { describe, expect, test } from 'vitest'
import { settings } from '../config.ts'
import { requiredSettings } from '../testing.ts'
import { type CustomSettings, parseCustomProviders } from './custom-settings.ts'

const acme = {
  identifier: 'custom:acme',
  issuer: 'https://id.acme.test',
  client_id: 'our client',
  client_secret: 'hunter2',
}
const { issuer: _, ...withoutPlaces } = acme
const plain = {
  ...withoutPlaces,
  authorization_url: 'https://acme.test/authorize',
  token_url: 'https://acme.test/token',
  userinfo_url: 'https://api.acme.test/me',
}

function read(entries: unknown, allowHttp = false) {
  const result = parseCustomProviders(JSON.stringify(entries), { allowHttp })
  if ('expected' in result) throw new Error(result.expected)
  return result
}

function only(entry: object): CustomSettings {
  const { providers, complaints } = read([entry])
  expect(complaints).toEqual([])
  return providers[0] as CustomSettings
}

describe('what is taken', () => {
  test('an issuer and a client are enough', () => {
    expect(only(acme)).toMatchObject({
      name: 'custom:acme',
      places: { issuer: 'https://id.acme.test' },
      clientIds: ['our client'],
      pkce: true,
      emailOptional: false,
      skipNonceCheck: false,
    })
    expect(only(acme).secret.reveal()).toBe('hunter2')
  })

  test('so are three addresses', () => {
    expect(only(plain).places).toEqual({
      authorize: 'https://acme.test/authorize',
      token: 'https://acme.test/token',
      userinfo: 'https://api.acme.test/me',
    })
  })

  test('an issuer is kept to the letter, because it is compared so', () => {
    expect(only({ ...acme, issuer: 'https://id.acme.test/' }).places).toEqual({ issuer: 'https://id.acme.test/' })
  })

  test('fields have the names that we keep, or those of the standard', () => {
    const attribute_mapping = { subject: 'id', avatar: 'image', username: 'login', email: 'mail', phone_verified: 'sms' }
    expect(only({ ...acme, attribute_mapping }).mapping).toEqual({
      sub: 'id',
      picture: 'image',
      preferred_username: 'login',
      email: 'mail',
      phone_number_verified: 'sms',
    })
  })

  test('no providers, and several', () => {
    expect(read([])).toEqual({ providers: [], complaints: [] })
    expect(read([acme, { ...plain, identifier: 'custom:2' }]).providers.map(({ name }) => name)).toEqual([
      'custom:acme',
      'custom:2',
    ])
  })
})

describe('what is complained about', () => {
  test.each(['', 'x', '{}', 'null', '["custom:acme"]', '[null]', '[[]]', '[{}'])('%s is no list of providers', (text) => {
    expect(parseCustomProviders(text, { allowHttp: true })).toEqual({ expected: 'a JSON list of providers, each an object' })
  })

  test.each<[object, string]>([
    [{ ...acme, client_secret: undefined }, 'custom:acme: client_secret is missing'],
    [{ ...acme, client_secret: '' }, 'custom:acme: client_secret must be a text with something in it'],
    [{ ...acme, client_id: ' ' }, 'custom:acme: client_id must be a text with something in it'],
    [{ ...acme, client_id: 7 }, 'custom:acme: client_id must be a text with something in it'],
    [{ ...acme, name: '' }, 'custom:acme: name must be a text with something in it'],
    [{ ...acme, client_secrett: 'x' }, 'custom:acme: "client_secrett" is not a field: did you mean client_secret?'],
    [{ ...acme, colour: 'red' }, 'custom:acme: "colour" is not a field'],
    [{ ...acme, constructor: 'x' }, 'custom:acme: "constructor" is not a field'],
    [withoutPlaces, 'custom:acme: needs an issuer, or else authorization_url, token_url, userinfo_url'],
    [{ ...plain, token_url: undefined }, 'custom:acme: token_url is missing'],
    [{ ...acme, ...plain }, expect.stringContaining('has an issuer, which tells the rest itself, and authorization_url, token')],
    [{ ...acme, issuer: 'https://id.acme.test?x=1' }, 'custom:acme: issuer must be an address without a query'],
    [{ ...acme, scopes: 'openid email' }, 'custom:acme: scopes must be a list of texts without blanks'],
    [{ ...acme, scopes: ['openid email'] }, 'custom:acme: scopes must be a list of texts without blanks'],
    [{ ...acme, acceptable_client_ids: [''] }, 'custom:acme: acceptable_client_ids must be a list of texts without blanks'],
    [{ ...acme, pkce_enabled: 'no' }, 'custom:acme: pkce_enabled must be true or false'],
    [{ ...acme, email_optional: null }, 'custom:acme: email_optional must be true or false'],
    [{ ...acme, skip_nonce_check: 1 }, 'custom:acme: skip_nonce_check must be true or false'],
    [{ ...acme, attribute_mapping: ['email'] }, 'custom:acme: attribute_mapping must be an object of names and texts'],
    [{ ...acme, attribute_mapping: { email: '' } }, 'custom:acme: attribute_mapping must be an object of names and texts'],
    [
      { ...acme, attribute_mapping: { emial: 'mail' } },
      'custom:acme: attribute_mapping: "emial" is nothing that we keep of somebody: did you mean email?',
    ],
    [
      { ...acme, attribute_mapping: { sub: 'id', subject: 'uid' } },
      'custom:acme: attribute_mapping: sub is mapped twice, under two of its names',
    ],
    [{ ...acme, authorization_params: { State: 'x' } }, 'custom:acme: authorization_params: State is not yours to set'],
    [{ ...acme, authorization_params: { prompt: 1 } }, 'custom:acme: authorization_params must be an object of names and texts'],
    [
      { ...acme, token_endpoint_auth_method: 'none' },
      'custom:acme: token_endpoint_auth_method must be one of client_secret_basic, client_secret_post',
    ],
  ])('%j', (entry, complaint) => {
    expect(read([entry]).complaints).toEqual([complaint])
  })

  test.each([
    undefined,
    7,
    '',
    'acme',
    'custom:',
    'custom:Acme',
    'custom:a_b',
    `custom:${'a'.repeat(51)}`,
    'custom:a\n',
    'google',
  ])('the identifier %j', (identifier) => {
    expect(read([{ ...acme, identifier }]).complaints).toEqual([expect.stringMatching(/^entry 1: identifier must be custom:/)])
  })

  test.each([
    'http://id.acme.test',
    'ftp://id.acme.test',
    'javascript:alert(1)',
    'id.acme.test',
    '//id.acme.test',
    'https://me:hunter3@id.acme.test',
    'https://id.acme.test#x',
    'https://id.acme.test\n',
    ' https://id.acme.test',
    'https://',
  ])('the address %j, without telling it', (address) => {
    const { complaints } = read([
      { ...acme, issuer: address },
      { ...plain, identifier: 'custom:b', token_url: address },
    ])
    expect(complaints).toEqual([
      expect.stringMatching(/^custom:acme: issuer must be an address that starts with https:/),
      expect.stringMatching(/^custom:b: token_url must be/),
    ])
    expect(complaints.join()).not.toContain('hunter')
  })

  test('http is for where private addresses are allowed', () => {
    expect(read([{ ...acme, issuer: 'http://localhost:9000' }], true).complaints).toEqual([])
    expect(read([{ ...acme, issuer: 'ftp://localhost:9000' }], true).complaints).toHaveLength(1)
  })

  test('everything at once, and nothing of a secret', () => {
    const { complaints } = read([acme, acme, acme, { identifier: 'x', client_secret: ['hunter2'] }])
    expect(complaints).toEqual([
      expect.stringMatching(/^entry 4: identifier/),
      expect.stringMatching(/^entry 4: needs an issuer/),
      'entry 4: client_id is missing',
      'entry 4: client_secret must be a text with something in it',
      'custom:acme: is there more than once',
    ])
    expect(complaints.join()).not.toContain('hunter2')
  })
})

describe('the setting', () => {
  const start = (entries: unknown, env: Record<string, string> = {}) =>
    settings.read({
      ...requiredSettings,
      AUTH_DB_DATABASE_URL: 'postgres://me@localhost/db',
      AUTH_EXTERNAL_CUSTOM_PROVIDERS: typeof entries === 'string' ? entries : JSON.stringify(entries),
      ...env,
    }).config.external.customProviders

  test('keeps secrets from being printed', () => {
    const [provider] = start([acme])
    expect(provider?.secret.reveal()).toBe('hunter2')
    expect(JSON.stringify(provider)).not.toContain('hunter2')
  })

  test('has a line for each complaint, all at once', () => {
    const wrong = [
      { ...acme, issuer: 'http://id.acme.test' },
      { ...acme, client_id: '' },
    ]
    expect(() => start(wrong, { AUTH_SECURITY_ALLOW_PRIVATE_ADDRESSES: 'false' })).toThrow(
      expect.objectContaining({
        complaints: [
          expect.stringMatching(/^AUTH_EXTERNAL_CUSTOM_PROVIDERS has a fault in custom:acme: issuer must be an address/),
          'AUTH_EXTERNAL_CUSTOM_PROVIDERS has a fault in custom:acme: client_id must be a text with something in it',
          'AUTH_EXTERNAL_CUSTOM_PROVIDERS has a fault in custom:acme: is there more than once',
        ],
      }),
    )
  })

  test('is not repeated when it cannot be read', () => {
    expect(() => start('[{"client_secret": "hunter2"')).toThrow(
      /AUTH_EXTERNAL_CUSTOM_PROVIDERS must be a JSON list of providers, each an object, not what is there/,
    )
  })

  test('is empty where nobody sets it', () => {
    expect(start('')).toEqual([])
  })
})
