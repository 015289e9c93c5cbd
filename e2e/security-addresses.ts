/** Hostile addresses, made by the family, for the tests of redirects. All of them lead elsewhere, or nowhere, or only some readers agree where. */

const site = 'site.test'
const evil = 'evil.test'

/** What a browser runs, reads, or hands to an app. */
const schemes = [
  ...['javascript', 'JavaScript', 'java%73cript', 'vbscript', 'livescript', 'mocha', 'data', 'DATA', 'file', 'blob', 'about'],
  ...[
    'filesystem',
    'view-source',
    'intent',
    'android-app',
    'market',
    'itms-services',
    'ms-settings',
    'search-ms',
    'jar',
    'mhtml',
  ],
  ...['mailto', 'tel', 'sms', 'ftp', 'sftp', 'ssh', 'smb', 'ldap', 'gopher', 'dict', 'ws', 'wss', 'chrome', 'resource', 'feed'],
  ...['httpss', 'xhttps', 'https+x', 'hxxps', 'com.evil.app'],
]

/** What no address holds; browsers drop some of it, and cut at some. */
const unprintable = [
  ...Array.from({ length: 0x20 }, (_, index) => index + 1),
  ...Array.from({ length: 0x22 }, (_, index) => index + 0x7f),
  ...[0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff],
  ...Array.from({ length: 0x0b }, (_, index) => index + 0x2000),
].map((code) => String.fromCharCode(code))

const afterScheme = [
  `alert(1)`,
  `//${site}/%0aalert(1)`,
  `//${site}@${evil}/`,
  `//${evil}/`,
  `https://${site}/`,
  `text/html,<script>1</script>`,
]

/** Whoever reads up to the @ sees another host than whoever reads on. */
const users = [
  ...[
    site,
    `${site}:443`,
    `${site}%2f`,
    `${site}%5c`,
    `${site}%23`,
    `${site}%3f`,
    `${site}&x=`,
    `${site};`,
    `www.${site}`,
    'user:pass',
  ],
  ...[':x', `${site}:pass`, `https%3a%2f%2f${site}`, `${site}%00`, `${site}%40`, `${site}@${site}`, '[::1]', '%e2%80%ae', '1'],
]

/** Refused by whatever is asked to send somebody somewhere. */
export const refusedEverywhere: Readonly<Record<string, readonly string[]>> = {
  schemes: schemes.flatMap((scheme) => afterScheme.map((rest) => `${scheme}:${rest}`)),
  users: users.flatMap((user) => [evil, `${evil}:443`, '1.1.1.1', '[2606:4700::1111]'].map((host) => `https://${user}@${host}/`)),
  'empty users': [`https://@${evil}/`, `https://:@${evil}/`, `https://@${site}/`, `https://:@${site}/`],
  unprintable: unprintable.flatMap((letter) => [
    `${letter}https://${site}/`,
    `https://${letter}${evil}/`,
    `https://${site}${letter}.${evil}/`,
    `https://${site}/${letter}x`,
    `ht${letter}tps://${evil}/`,
  ]),
  lines: ['\r\n', '\n', '\r', '\r\n\r\n'].flatMap((end) =>
    [`Location: https://${evil}/`, 'Set-Cookie: session=evil', '<script>alert(1)</script>'].map(
      (line) => `https://${site}/${end}${line}`,
    ),
  ),
  backslashes: [
    ...[
      `https:\\\\${evil}`,
      `https:\\${evil}`,
      `https:/\\${evil}`,
      `https:\\/${evil}`,
      `\\\\${evil}`,
      `/\\${evil}`,
      `\\/${evil}`,
    ],
    ...[`https://${site}\\@${evil}`, `https://${evil}\\@${site}`, `https://${site}\\.${evil}`, `https://${evil}\\.${site}`],
    ...[`https://${site}/\\${evil}`, `https://${site}\\${evil}`, `https://${evil}\\`, `https://\\${evil}`, `h\\ttps://${evil}`],
  ],
  slashes: [
    ...[`https:${evil}`, `https:/${evil}`, `https:///${evil}`, `https:////${evil}`, `http:${evil}`, `http:/${evil}`, `//${evil}`],
    ...[
      `///${evil}`,
      `////${evil}`,
      `/${evil}`,
      `//${site}@${evil}`,
      `${evil}`,
      `${site}`,
      `./${evil}`,
      `../${evil}`,
      `?${evil}`,
    ],
    ...[
      `#${evil}`,
      `:${evil}`,
      `://${evil}`,
      `https//${evil}`,
      `https;//${evil}`,
      `https:://${evil}`,
      'https://',
      'https:',
      'https',
    ],
    ...[
      'https:///',
      'https://?',
      `https://?${site}`,
      `https://#${site}`,
      `%2f%2f${evil}`,
      `/%2f${evil}`,
      `/%09/${evil}`,
      '/',
      '.',
    ],
  ],
  hosts: [
    ...[
      `https://[${evil}]/`,
      'https://[::1',
      'https://[::g]/',
      'https://[1.1.1.1]/',
      `https://${evil}:99999/`,
      `https://${evil}:x/`,
    ],
    ...[`https://${site} ${evil}/`, `https://${site}<${evil}>/`, `https://${site}^${evil}/`, `https://${site}|${evil}/`],
    ...[`https://${evil}%00/`, `https://${evil}%20/`, `https://${evil}%09/`, `https://%/`, 'https://256.256.256.256/'],
  ],
  long: [`https://${site}/${'x'.repeat(9000)}`, `https://${evil}/?${'x'.repeat(9000)}`],
}

/** Refused where a list says what is allowed: the host is another, or spelt so that somebody might take it for another. */
export const refusedByList: Readonly<Record<string, readonly string[]>> = {
  elsewhere: [
    `${evil}`,
    `${site}.${evil}`,
    `evil${site}`,
    `sub.${site}`,
    `${site}.`,
    `.${site}`,
    'site..test',
    `${site}x`,
    'site.tes',
  ].flatMap((host) => [
    `https://${host}`,
    `https://${host}/`,
    `https://${host}/${site}`,
    `https://${host}?${site}`,
    `https://${host}#${site}`,
  ]),
  ports: ['0', '1', '80', '444', '4430', '8443', '65535', '65536', '', '0443x', '-443', '+443', '443:443'].map(
    (port) => `https://${site}:${port}/`,
  ),
  'half a name': ['https://xn--/'],
  downgrades: [`http://${site}`, `http://${site}/`, `http://${site}:443/`, `HTTP://${site.toUpperCase()}/x`, `ftp://${site}/`],
  encodings: [
    ...[
      's%69te.test',
      'site%2etest',
      '%73%69%74%65.test',
      'site.test%2eevil.test',
      'site.test%2f.evil.test',
      'site%E3%80%82test',
    ],
    ...[
      'site&#46;test',
      'site\\u002etest',
      'evil%2etest%2f.site.test',
      'site.test%252eevil.test',
      'xn--site-6ya.test',
      'si%00te.test',
    ],
  ].map((host) => `https://${host}/`),
  unicode: [
    ...[
      's\u0456te.test',
      '\uff53ite.test',
      'site\u3002test',
      'site\uff0etest',
      'site\uff61test',
      'site.te\u0455t',
      '\u24e2ite.test',
    ],
    ...[
      'site.test\uff0fevil',
      'site.test\uff20evil.test',
      'site.test\uff03.evil.test',
      'site.test\uff1f.evil.test',
      '\u017fite.test',
    ],
    ...[
      'evil.test\u2215.site.test',
      'evil.test\u2044.site.test',
      'evil.test\uff3c.site.test',
      'site.test\u2024evil.test',
      'ſite.test',
    ],
    ...[
      'si\u00adte.test',
      'site\u200b.test',
      'site\u200d.test',
      'site\u2060.test',
      'si\u034fte.test',
      'site.test\u202e',
      'ⓢⓘⓣⓔ.test',
    ],
  ].map((host) => `https://${host}/`),
  numbers: [
    ...[
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '1.1.1.1',
      '16843009',
      '0x01010101',
      '01.01.01.01',
      '0',
      '10.0.0.1',
    ],
    ...[
      '169.254.169.254',
      '2852039166',
      '[::1]',
      '[::]',
      '[::ffff:1.1.1.1]',
      '[::ffff:101:101]',
      '[2606:4700::1111]',
      '[fe80::1%25lo]',
    ],
  ].flatMap((host) => [`https://${host}/`, `http://${host}:3000/`]),
  globs: [
    ...[
      'apps.test',
      'a.b.apps.test',
      'aXapps.test',
      'a.apps.test.evil.test',
      'evil.test/.apps.test',
      'evil.test?.apps.test',
      'a.apps.test:8443',
    ],
    ...[
      'evil.test#.apps.test',
      'evil.test:443/.apps.test',
      'one.test',
      'one.test/callback/',
      'one.test/callback?x',
      'one.test/%63allback',
    ],
    ...[
      'one.test/x/../callback',
      'one.test/callback/..',
      'one.test/callbackx',
      'one.test/CALLBACK',
      'one.test:8443/callback',
      'one.test//callback',
    ],
  ].map((rest) => `https://${rest}`),
}

/** Refused where real money is paid: anybody on the way can read or change what is asked without TLS. */
export const refusedWithoutTls: Readonly<Record<string, readonly string[]>> = {
  http: [
    ...[site, evil, `${evil}:443`, `${evil}:80`, '1.1.1.1', '10.0.0.1', '2130706432', '[2606:4700::1111]', 'localhost.evil.test'],
    ...['evil-localhost', 'localhosts', '127.0.0.2', '127.0.0.1.evil.test', '0.0.0.0', '[::2]', '[::ffff:127.0.0.1]'],
  ].flatMap((host) => [`http://${host}`, `http://${host}/x`, `HTTP://${host}/?x#y`]),
}

export function all(...families: Readonly<Record<string, readonly string[]>>[]): string[] {
  return [...new Set(families.flatMap((family) => Object.values(family).flat()))]
}

/** A few of every family: for what takes a mail to see. */
export function some(...families: Readonly<Record<string, readonly string[]>>[]): string[] {
  return families.flatMap((family) =>
    Object.values(family).flatMap((each) => [each[0], each[Math.floor(each.length / 2)]]),
  ) as string[]
}

/** So many at a time that nobody waits for the clock alone: refusals are held back for much longer than they take. */
export async function atOnce<T>(candidates: readonly T[], attempt: (candidate: T) => Promise<void>): Promise<void> {
  const waiting = candidates.values()
  const work = async () => {
    for (const next of waiting) await attempt(next)
  }
  await Promise.all(Array.from({ length: 48 }, work))
}
