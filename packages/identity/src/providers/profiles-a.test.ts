import { describe, expect, test } from 'vitest'
import { bitbucket } from './bitbucket.ts'
import { discord } from './discord.ts'
import { facebook } from './facebook.ts'
import { figma } from './figma.ts'
import { fly } from './fly.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'
import { linkedin } from './linkedin.ts'
import { notion } from './notion.ts'
import { placesOf } from './oauth.ts'
import type { Asking, Profile, Provider } from './provider.ts'
import { slack } from './slack.ts'
import { snapchat } from './snapchat.ts'
import { spotify } from './spotify.ts'
import { twitch } from './twitch.ts'
import { x } from './x.ts'
import { zoom } from './zoom.ts'

type Asked = { url: string; headers?: Readonly<Record<string, string>> | undefined }

const settings = { clientId: 'client', secret: 'secret', redirectUri: 'https://auth.example.com/callback' }

/** Asks a provider that answers every address with the body given for it, and nothing else. */
async function ask(provider: Provider, answers: Readonly<Record<string, unknown>>, base?: string) {
  const asked: Asked[] = []
  const answer = async <T>(url: string, headers?: Readonly<Record<string, string>>): Promise<T> => {
    asked.push(headers === undefined ? { url } : { url, headers })
    if (!(url in answers)) throw new Error(`nobody expected ${url}`)
    return structuredClone(answers[url]) as T
  }
  const asking: Asking = {
    get: answer,
    post: (url) => Promise.reject(new Error(`nobody expected a POST to ${url}`)),
    ...placesOf({ provider, base, ...settings }),
    accessToken: 'token',
    tokenReply: {},
    idToken: {},
    callback: {},
    clientId: settings.clientId,
    clientSecret: settings.secret,
  }
  const profile: Profile = await provider.profile(asking)
  return { profile, asked }
}

/** What each provider answers to somebody who has everything, as documented, and what is read from it. */
const places = {
  bitbucket: ['https://api.bitbucket.org/2.0/user', 'https://api.bitbucket.org/2.0/user/emails'],
  discord: ['https://discord.com/api/users/@me'],
  facebook: [
    // `printf token | openssl dgst -sha256 -hmac secret`
    'https://graph.facebook.com/me?fields=email,first_name,last_name,name,picture&appsecret_proof=e941110e3d2bfe82621f0e3e1434730d7305d106c5f68c87165d0b27a4611a4a',
  ],
  figma: ['https://api.figma.com/v1/me'],
  fly: ['https://api.fly.io/oauth/token/info'],
  github: ['https://api.github.com/user', 'https://api.github.com/user/emails'],
  gitlab: ['https://gitlab.com/api/v4/user', 'https://gitlab.com/api/v4/user/emails'],
  linkedin: [
    'https://api.linkedin.com/v2/me?projection=(id,firstName,lastName,profilePicture(displayImage~:playableStreams))',
    'https://api.linkedin.com/v2/emailAddress?q=members&projection=(elements*(handle~))',
  ],
  notion: ['https://api.notion.com/v1/users/me'],
  slack: ['https://slack.com/api/openid.connect.userInfo'],
  snapchat: [
    'https://kit.snapchat.com/v1/me?query=%7Bme%20%7B%20externalId%20displayName%20bitmoji%20%7B%20avatar%20id%20%7D%20email%20%7D%20%7D',
  ],
  spotify: ['https://api.spotify.com/v1/me'],
  twitch: ['https://api.twitch.tv/helix/users'],
  x: ['https://api.x.com/2/users/me?user.fields=id,name,username,confirmed_email,profile_image_url,url,created_at'],
  zoom: ['https://api.zoom.us/v2/users/me'],
} as const

type Name = keyof typeof places

const all: Readonly<Record<Name, Provider>> = {
  bitbucket,
  discord,
  facebook,
  figma,
  fly,
  github,
  gitlab,
  linkedin,
  notion,
  slack,
  snapchat,
  spotify,
  twitch,
  x,
  zoom,
}

const names = Object.keys(places) as Name[]

/** Asks by name, with one body for each of its addresses. */
async function profileOf(name: Name, ...bodies: unknown[]): Promise<Profile> {
  const answers = Object.fromEntries(places[name].map((url, index) => [url, bodies[index]]))
  return (await ask(all[name], answers)).profile
}

const address = (email: string, { verified = true, primary = true } = {}) => ({ email, verified, primary })

const full: Readonly<Record<Name, { bodies: unknown[]; profile: Profile }>> = {
  bitbucket: {
    bodies: [
      {
        type: 'user',
        uuid: '{1f2e3d4c-0000-4000-8000-00000000ada1}',
        display_name: 'Ada Lovelace',
        nickname: 'ada',
        links: { avatar: { href: 'https://avatars.example.com/ada' }, self: { href: 'https://api.bitbucket.org/2.0/users/ada' } },
      },
      {
        pagelen: 10,
        page: 1,
        size: 2,
        values: [
          { type: 'email', email: 'ada@work.example', is_primary: false, is_confirmed: false },
          { type: 'email', email: ' Ada@Example.com', is_primary: true, is_confirmed: true },
        ],
      },
    ],
    profile: {
      subject: '{1f2e3d4c-0000-4000-8000-00000000ada1}',
      emails: [address('ada@work.example', { verified: false, primary: false }), address('ada@example.com')],
      name: 'Ada Lovelace',
      nickname: 'ada',
      avatar: 'https://avatars.example.com/ada',
    },
  },
  discord: {
    bodies: [
      {
        id: '80351110224678912',
        username: 'ada',
        discriminator: '1337',
        global_name: 'Ada L.',
        avatar: '8342729096ea3675442027381ff50dfe',
        verified: true,
        email: 'ada@example.com',
      },
    ],
    profile: {
      subject: '80351110224678912',
      emails: [address('ada@example.com')],
      name: 'ada#1337',
      username: 'ada',
      avatar: 'https://cdn.discordapp.com/avatars/80351110224678912/8342729096ea3675442027381ff50dfe.png',
      customClaims: { global_name: 'Ada L.' },
    },
  },
  facebook: {
    bodies: [
      {
        id: '10150000000000001',
        email: 'ada@example.com',
        first_name: 'Ada',
        last_name: 'Lovelace',
        name: 'Ada King Lovelace',
        picture: { data: { height: 50, width: 50, is_silhouette: false, url: 'https://platform.example.com/ada.jpg' } },
      },
    ],
    profile: {
      subject: '10150000000000001',
      emails: [address('ada@example.com')],
      name: 'Ada King Lovelace',
      givenName: 'Ada',
      familyName: 'Lovelace',
      avatar: 'https://platform.example.com/ada.jpg',
    },
  },
  figma: {
    bodies: [{ id: '2847502', email: 'ada@example.com', handle: 'Ada Lovelace', img_url: 'https://img.example.com/ada.png' }],
    profile: {
      subject: '2847502',
      emails: [address('ada@example.com')],
      name: 'Ada Lovelace',
      avatar: 'https://img.example.com/ada.png',
    },
  },
  fly: {
    bodies: [
      {
        resource_owner_id: 'rzjkdw3g0ypx061q',
        user_id: 'rzjkdw3g0ypx061q',
        user_name: 'Ada Lovelace',
        email: '5mrgw4xzkxoz02yk@customer.fly.io',
        organizations: [{ id: 'zd3e5wvkjel6pgqw', role: 'admin', more: 'x' }],
        scope: ['read'],
        expires_in: 7200,
        application: { uid: 'logjam' },
        created_at: 1683740928,
      },
    ],
    profile: {
      subject: 'rzjkdw3g0ypx061q',
      emails: [address('5mrgw4xzkxoz02yk@customer.fly.io')],
      name: 'Ada Lovelace',
      customClaims: { resource_owner_id: 'rzjkdw3g0ypx061q', organizations: [{ id: 'zd3e5wvkjel6pgqw', role: 'admin' }] },
    },
  },
  github: {
    bodies: [
      {
        login: 'ada',
        id: 583231,
        avatar_url: 'https://avatars.example.com/u/583231',
        html_url: 'https://github.com/ada',
        name: 'Ada Lovelace',
        blog: 'javascript:alert(1)',
        email: 'shown@example.com',
      },
      [
        { email: 'Ada@Example.com', verified: true, primary: true, visibility: 'private' },
        { email: 'ada@work.example', verified: false, primary: false, visibility: null },
        { email: '583231+ada@users.noreply.github.com', verified: true, primary: false, visibility: null },
      ],
    ],
    profile: {
      subject: '583231',
      emails: [
        address('ada@example.com'),
        address('ada@work.example', { verified: false, primary: false }),
        address('583231+ada@users.noreply.github.com', { primary: false }),
      ],
      name: 'Ada Lovelace',
      username: 'ada',
      avatar: 'https://avatars.example.com/u/583231',
      profileUrl: 'https://github.com/ada',
    },
  },
  gitlab: {
    bodies: [
      {
        id: 17,
        username: 'ada',
        name: 'Ada Lovelace',
        avatar_url: 'https://gitlab.com/uploads/ada.png',
        web_url: 'https://gitlab.com/ada',
        email: 'ada@example.com',
        confirmed_at: '2012-05-23T09:05:22.000Z',
      },
      [
        { id: 1, email: 'ADA@example.com', confirmed_at: '2012-05-23T09:05:22.000Z' },
        { id: 3, email: 'ada@work.example', confirmed_at: '2021-03-26T19:07:56.248Z' },
      ],
    ],
    profile: {
      subject: '17',
      emails: [address('ada@example.com'), address('ada@work.example', { verified: false, primary: false })],
      name: 'Ada Lovelace',
      username: 'ada',
      avatar: 'https://gitlab.com/uploads/ada.png',
      profileUrl: 'https://gitlab.com/ada',
    },
  },
  linkedin: {
    bodies: [
      {
        id: 'yrZCpj2Z12',
        firstName: { localized: { de_DE: 'Ada-Marie', en_US: 'Ada' }, preferredLocale: { country: 'US', language: 'en' } },
        lastName: { localized: { en_US: 'Lovelace' }, preferredLocale: { country: 'US', language: 'en' } },
        profilePicture: {
          'displayImage~': {
            elements: [
              { identifiers: [{ identifier: 'https://media.example.com/100.jpg', identifierType: 'EXTERNAL_URL' }] },
              { identifiers: [{ identifier: 'https://media.example.com/800.jpg', identifierType: 'EXTERNAL_URL' }] },
            ],
          },
        },
      },
      { elements: [{ handle: 'urn:li:emailAddress:3775708763', 'handle~': { emailAddress: 'ada@example.com' } }] },
    ],
    profile: {
      subject: 'yrZCpj2Z12',
      emails: [address('ada@example.com')],
      name: 'Ada Lovelace',
      givenName: 'Ada',
      familyName: 'Lovelace',
      avatar: 'https://media.example.com/100.jpg',
    },
  },
  notion: {
    bodies: [
      {
        object: 'user',
        id: '16d84278-0000-4000-8000-0000000000b0',
        name: 'The bot',
        type: 'bot',
        bot: {
          owner: {
            type: 'user',
            user: {
              object: 'user',
              id: '5389a034-0000-4000-8000-00000000ada1',
              name: 'Ada Lovelace',
              avatar_url: 'https://notion.example.com/ada.png',
              type: 'person',
              person: { email: 'ada@example.com' },
            },
          },
        },
      },
    ],
    profile: {
      subject: '5389a034-0000-4000-8000-00000000ada1',
      emails: [address('ada@example.com')],
      name: 'Ada Lovelace',
      avatar: 'https://notion.example.com/ada.png',
    },
  },
  slack: {
    bodies: [
      {
        ok: true,
        sub: 'U0R7JM',
        'https://slack.com/user_id': 'U0R7JM',
        'https://slack.com/team_id': 'T0R7GR',
        email: 'ada@example.com',
        email_verified: true,
        name: 'Ada Lovelace',
        picture: 'https://secure.example.com/ada.png',
        given_name: 'Ada',
        family_name: 'Lovelace',
        locale: 'en-US',
      },
    ],
    profile: {
      subject: 'U0R7JM',
      emails: [address('ada@example.com')],
      name: 'Ada Lovelace',
      givenName: 'Ada',
      familyName: 'Lovelace',
      avatar: 'https://secure.example.com/ada.png',
      locale: 'en-US',
      customClaims: { 'https://slack.com/team_id': 'T0R7GR' },
    },
  },
  snapchat: {
    bodies: [
      {
        data: {
          me: {
            externalId: 'CAESIPiRBp0e5gLDq7VVurQ3rVdmdbqxpOJWynjyBL',
            displayName: 'Ada',
            bitmoji: { avatar: 'https://sdk.example.com/ada.png', id: 'x' },
            email: 'ada@example.com',
          },
        },
      },
    ],
    profile: {
      subject: 'CAESIPiRBp0e5gLDq7VVurQ3rVdmdbqxpOJWynjyBL',
      emails: [address('ada@example.com')],
      name: 'Ada',
      avatar: 'https://sdk.example.com/ada.png',
    },
  },
  spotify: {
    bodies: [
      {
        id: 'ada-l',
        display_name: 'Ada',
        email: 'ada@example.com',
        images: [
          { url: 'https://i.example.com/300', height: 300, width: 300 },
          { url: 'https://i.example.com/64', height: 64, width: 64 },
        ],
        external_urls: { spotify: 'https://open.spotify.com/user/ada-l' },
      },
    ],
    profile: {
      subject: 'ada-l',
      emails: [address('ada@example.com', { verified: false })],
      name: 'Ada',
      avatar: 'https://i.example.com/300',
      profileUrl: 'https://open.spotify.com/user/ada-l',
    },
  },
  twitch: {
    bodies: [
      {
        data: [
          {
            id: '141981764',
            login: 'ada',
            display_name: 'Ada_L',
            type: '',
            broadcaster_type: 'partner',
            description: 'Computes, live.',
            profile_image_url: 'https://static.example.com/ada.png',
            offline_image_url: 'https://static.example.com/off.png',
            view_count: 5980557,
            email: 'ada@example.com',
            created_at: '2016-12-14T20:32:28Z',
          },
        ],
      },
    ],
    profile: {
      subject: '141981764',
      emails: [address('ada@example.com')],
      name: 'ada',
      username: 'ada',
      nickname: 'Ada_L',
      avatar: 'https://static.example.com/ada.png',
      customClaims: {
        broadcaster_type: 'partner',
        description: 'Computes, live.',
        offline_image_url: 'https://static.example.com/off.png',
      },
    },
  },
  x: {
    bodies: [
      {
        data: {
          id: '2244994945',
          name: 'Ada Lovelace',
          username: 'ada',
          confirmed_email: 'ada@example.com',
          profile_image_url: 'https://pbs.example.com/ada.jpg',
          url: 'https://t.co/ada',
          created_at: '2013-12-14T04:35:55.000Z',
        },
      },
    ],
    profile: {
      subject: '2244994945',
      emails: [address('ada@example.com')],
      name: 'Ada Lovelace',
      username: 'ada',
      avatar: 'https://pbs.example.com/ada.jpg',
      profileUrl: 'https://x.com/ada',
      website: 'https://t.co/ada',
      customClaims: { created_at: '2013-12-14T04:35:55.000Z' },
    },
  },
  zoom: {
    bodies: [
      {
        id: 'zJKyaiAyTNC-MWjiWC18KQ',
        first_name: 'Ada',
        last_name: 'Lovelace',
        display_name: 'Countess Ada',
        email: 'ada@example.com',
        login_types: [100],
        verified: 1,
        pic_url: 'https://zoom.example.com/ada.jpg',
      },
    ],
    profile: {
      subject: 'zJKyaiAyTNC-MWjiWC18KQ',
      emails: [address('ada@example.com')],
      name: 'Ada Lovelace',
      givenName: 'Ada',
      familyName: 'Lovelace',
      avatar: 'https://zoom.example.com/ada.jpg',
    },
  },
}

describe.each(names)('%s', (name) => {
  const { bodies, profile } = full[name]

  test('tells who somebody is', async () => {
    expect(await profileOf(name, ...bodies)).toEqual(profile)
  })

  test('is asked at its own addresses and no others', async () => {
    const answers = Object.fromEntries(places[name].map((url, index) => [url, bodies[index]]))
    const headers = name === 'twitch' ? { headers: { 'Client-Id': 'client' } } : {}
    expect((await ask(all[name], answers)).asked).toEqual(places[name].map((url) => ({ url, ...headers })))
  })

  test('has the name under which it is asked for', () => {
    expect(all[name].name).toBe(name)
  })

  test.each([
    ['nothing', {}],
    ['null', null],
    ['a text', 'hello'],
    ['a list', []],
    ['a list of nothing', [null]],
    ['fields that are lists', { id: [], uuid: [], data: [], bot: [], user_id: [] }],
    ['fields that are null', { id: null, uuid: null, data: null, bot: null, user_id: null }],
    ['an error', { ok: false, error: 'invalid_auth', errors: [{ message: 'no' }] }],
  ])('lets nobody in when it answers %s', async (_, body) => {
    await expect(profileOf(name, body, body)).rejects.toThrow(`${name}: told no id`)
  })
})

/** What is left when a provider tells no more than an id, and everything else is of the wrong kind. */
const wrong = { toString: 'x' }
const bare: Readonly<Record<Name, { bodies: unknown[]; subject: string }>> = {
  bitbucket: {
    bodies: [
      { uuid: '{a}', display_name: 5, nickname: wrong, links: 'x' },
      { values: [null, 5, { email: 5 }, { email: 'no address' }] },
    ],
    subject: '{a}',
  },
  discord: { bodies: [{ id: '7', username: null, discriminator: 1, avatar: wrong, email: wrong, verified: true }], subject: '7' },
  facebook: { bodies: [{ id: 7, email: 'ada@', name: [], first_name: {}, last_name: 0, picture: null }], subject: '7' },
  figma: { bodies: [{ id: '7', email: ['ada@example.com'], handle: '  ', img_url: 'javascript:alert(1)' }], subject: '7' },
  fly: { bodies: [{ user_id: '7', user_name: '', email: '', organizations: {}, resource_owner_id: 7 }], subject: '7' },
  github: {
    bodies: [{ id: 7, name: null, login: null, avatar_url: '/ada.png', html_url: 5 }, { email: 'ada@example.com' }],
    subject: '7',
  },
  gitlab: { bodies: [{ id: 7, name: '', username: '', email: null, confirmed_at: true, avatar_url: null }, null], subject: '7' },
  linkedin: {
    bodies: [
      {
        id: '7',
        firstName: { localized: 'x' },
        lastName: { localized: ['x'] },
        profilePicture: { 'displayImage~': { elements: [{}] } },
      },
      { elements: [] },
    ],
    subject: '7',
  },
  notion: { bodies: [{ bot: { owner: { user: { id: '7', name: 1, avatar_url: null, person: null } } } }], subject: '7' },
  slack: {
    bodies: [
      { 'https://slack.com/user_id': '7', 'https://slack.com/team_id': 5, email: null, email_verified: true, picture: '...' },
    ],
    subject: '7',
  },
  snapchat: { bodies: [{ data: { me: { externalId: '7', displayName: null, bitmoji: null, email: null } } }], subject: '7' },
  spotify: { bodies: [{ id: '7', display_name: null, images: [], email: undefined, external_urls: [] }], subject: '7' },
  twitch: { bodies: [{ data: [{ id: 7, login: 5, email: '', profile_image_url: 'data:image/png;base64,AA' }] }], subject: '7' },
  x: { bodies: [{ data: { id: '7', name: 5, username: [], url: 'javascript:alert(1)', created_at: 5 } }], subject: '7' },
  zoom: {
    bodies: [{ id: '7', first_name: 5, last_name: null, email: {}, login_types: 'x', pic_url: 'ftp://example.com/a' }],
    subject: '7',
  },
}

test.each(names)('%s: what is of the wrong kind is left out', async (name) => {
  const { subject, emails, ...rest } = await profileOf(name, ...bare[name].bodies)
  const avatar = name === 'discord' ? 'https://cdn.discordapp.com/embed/avatars/1.png' : undefined
  expect({ subject, emails }).toEqual({ subject: bare[name].subject, emails: [] })
  expect(rest).toEqual(avatar === undefined ? {} : { avatar })
})

test.each([
  ['bitbucket', [{ uuid: '7' }, { values: [{ email: 'ada@example.com', is_confirmed: 'false', is_primary: true }] }]],
  ['discord', [{ id: '7', email: 'ada@example.com', verified: false }]],
  ['discord', [{ id: '7', email: 'ada@example.com', verified: 'false' }]],
  ['discord', [{ id: '7', email: 'ada@example.com' }]],
  ['github', [{ id: 7 }, [{ email: 'ada@example.com', verified: 'false', primary: true }]]],
  ['gitlab', [{ id: 7, email: 'ada@example.com', confirmed_at: null }, []]],
  [
    'gitlab',
    [{ id: 7, email: 'ada@example.com', confirmed_at: '' }, [{ email: 'ada@example.com', confirmed_at: '2021-03-26T19:07:56Z' }]],
  ],
  ['slack', [{ 'https://slack.com/user_id': '7', email: 'ada@example.com' }]],
  ['slack', [{ 'https://slack.com/user_id': '7', email: 'ada@example.com', email_verified: 'no' }]],
  ['spotify', [{ id: '7', email: 'ada@example.com', email_verified: true }]],
  ['zoom', [{ id: '7', email: 'ada@example.com', login_type: '100', verified: 0 }]],
  ['zoom', [{ id: '7', email: 'ada@example.com', login_type: 100, verified: 0 }]],
  ['zoom', [{ id: '7', email: 'ada@example.com', login_types: [1, 100], verified: 0 }]],
  ['zoom', [{ id: '7', email: 'ada@example.com', login_type: '100' }]],
  ['zoom', [{ id: '7', email: 'ada@example.com', login_type: {}, login_types: [null, []] }]],
  ['zoom', [{ id: '7', email: 'ada@example.com', verified: 0 }]],
] as const)('%s does not vouch for the address of %j', async (name, bodies) => {
  expect((await profileOf(name, ...bodies)).emails).toEqual([address('ada@example.com', { verified: false })])
})

test.each([
  ['discord', [{ id: '7', email: '\tADA@Example.COM ', verified: 'true' }]],
  ['zoom', [{ id: '7', email: 'ada@example.com', login_type: '100', verified: 1 }]],
  ['zoom', [{ id: '7', email: 'ada@example.com', login_type: '101', verified: 0 }]],
  ['zoom', [{ id: '7', email: 'ada@example.com', login_types: [1, 101], verified: 0 }]],
] as const)('%s vouches for the address of %j', async (name, bodies) => {
  expect((await profileOf(name, ...bodies)).emails).toEqual([address('ada@example.com')])
})

test.each([
  ['facebook', [{ id: '7', first_name: ' Ada ', last_name: 'Lovelace' }], 'Ada Lovelace'],
  ['facebook', [{ id: '7', last_name: 'Lovelace' }], 'Lovelace'],
  ['github', [{ id: 7, login: 'ada', name: null }, []], 'ada'],
  ['zoom', [{ id: '7', display_name: 'Ada' }], 'Ada'],
  ['discord', [{ id: '7', username: 'ada', discriminator: '0' }], 'ada#0'],
  ['discord', [{ id: '7', username: 'ada' }], 'ada'],
  ['linkedin', [{ id: '7', firstName: { localized: { de_DE: 'Ada' } } }, {}], 'Ada'],
  ['linkedin', [{ id: '7', lastName: { localized: { de_DE: 5, fr_FR: 'L' }, preferredLocale: { language: 'en' } } }, {}], 'L'],
  ['figma', [{ id: '7', handle: 'A\u0000da \ud800' }], 'Ada \ufffd'],
] as const)('%s: %j is called %s', async (name, bodies, called) => {
  expect((await profileOf(name, ...bodies)).name).toBe(called)
})

test.each([
  [{ avatar: 'a_1269e74af4df7417b13759eae50c83dc' }, 'avatars/7/a_1269e74af4df7417b13759eae50c83dc.gif'],
  [{ avatar: '../../x?y' }, 'avatars/7/..%2F..%2Fx%3Fy.png'],
  [{ avatar: null, discriminator: '1337' }, 'embed/avatars/2.png'],
  [{ avatar: null, discriminator: '0' }, 'embed/avatars/0.png'],
  [{ avatar: '', discriminator: 'x' }, 'embed/avatars/0.png'],
])('discord: %j has the avatar %s', async (user, avatar) => {
  expect((await profileOf('discord', { id: '7', ...user })).avatar).toBe(`https://cdn.discordapp.com/${avatar}`)
})

test.each([
  ['a number that may have been rounded', 2 ** 53],
  ['a number with a fraction', 1.5],
  ['zero', 0],
  ['less than zero', -1],
  ['a blank', ' '],
  ['blanks around it', ' 7'],
  ['what cannot be kept', '7\u0000'],
  ['true', true],
])('an id that is %s is none', async (_, id) => {
  await expect(profileOf('github', { id }, [])).rejects.toThrow('github: told no id')
})

test('notion: a bot of a whole workspace belongs to nobody', async () => {
  const bot = { id: 'b', type: 'bot', bot: { owner: { type: 'workspace', workspace: true } } }
  await expect(profileOf('notion', bot)).rejects.toThrow('notion: told no id')
})

test.each([
  ['github', 'https://ghe.example.com', ['https://ghe.example.com/api/v3/user', 'https://ghe.example.com/api/v3/user/emails']],
  ['gitlab', 'https://git.example.com', ['https://git.example.com/api/v4/user', 'https://git.example.com/api/v4/user/emails']],
  ['discord', 'https://d.example.com', ['https://d.example.com/api/users/@me']],
  ['zoom', 'https://z.example.com', ['https://z.example.com/v2/users/me']],
] as const)('%s is asked where the installation has it', async (name, base, urls) => {
  const { bodies, profile } = full[name]
  const answers = Object.fromEntries(urls.map((url, index) => [url, bodies[index]]))
  expect((await ask(all[name], answers, base)).profile.subject).toBe(profile.subject)
})

test.each([
  ['bitbucket', 'https://bitbucket.org/site/oauth2/authorize', 'https://bitbucket.org/site/oauth2/access_token', 'account email'],
  ['discord', 'https://discord.com/api/oauth2/authorize', 'https://discord.com/api/oauth2/token', 'email identify'],
  ['facebook', 'https://www.facebook.com/dialog/oauth', 'https://graph.facebook.com/oauth/access_token', 'email'],
  ['figma', 'https://www.figma.com/oauth', 'https://api.figma.com/v1/oauth/token', 'current_user:read'],
  ['fly', 'https://api.fly.io/oauth/authorize', 'https://api.fly.io/oauth/token', 'read'],
  ['github', 'https://github.com/login/oauth/authorize', 'https://github.com/login/oauth/access_token', 'user:email'],
  ['gitlab', 'https://gitlab.com/oauth/authorize', 'https://gitlab.com/oauth/token', 'read_user'],
  [
    'linkedin',
    'https://api.linkedin.com/oauth/v2/authorization',
    'https://api.linkedin.com/oauth/v2/accessToken',
    'r_emailaddress r_liteprofile',
  ],
  ['notion', 'https://api.notion.com/v1/oauth/authorize', 'https://api.notion.com/v1/oauth/token', ''],
  ['slack', 'https://slack.com/oauth/authorize', 'https://slack.com/api/oauth.access', 'profile email openid'],
  [
    'snapchat',
    'https://accounts.snapchat.com/accounts/oauth2/auth',
    'https://accounts.snapchat.com/accounts/oauth2/token',
    'https://auth.snapchat.com/oauth2/api/user.external_id https://auth.snapchat.com/oauth2/api/user.display_name https://auth.snapchat.com/oauth2/api/user.bitmoji.avatar',
  ],
  ['spotify', 'https://accounts.spotify.com/authorize', 'https://accounts.spotify.com/api/token', 'user-read-email'],
  ['twitch', 'https://id.twitch.tv/oauth2/authorize', 'https://id.twitch.tv/oauth2/token', 'user:read:email'],
  [
    'x',
    'https://x.com/i/oauth2/authorize',
    'https://api.x.com/2/oauth2/token',
    'users.email tweet.read users.read offline.access',
  ],
  ['zoom', 'https://zoom.us/oauth/authorize', 'https://zoom.us/oauth/token', ''],
] as const)('%s sends people to %s and its codes to %s', (name, authorize, token, scopes) => {
  const provider = all[name]
  expect(placesOf({ provider, ...settings })).toMatchObject({ authorize, token })
  expect(provider.scopes.join(' ')).toBe(scopes)
})

test('who wants what besides: a version and an owner for notion, PKCE for those that know it, secrets in the header', () => {
  expect(notion.headers).toEqual({ 'Notion-Version': '2021-08-16' })
  expect(notion.authorizeParameters).toEqual({ owner: 'user' })
  expect(names.filter((name) => all[name].pkce)).toEqual(['github', 'gitlab', 'x'])
  expect(names.filter((name) => all[name].clientAuth === 'basic')).toEqual([
    'bitbucket',
    'figma',
    'snapchat',
    'spotify',
    'x',
    'zoom',
  ])
  expect(names.filter((name) => all[name].clientAuth === 'basic-json')).toEqual(['notion'])
})
