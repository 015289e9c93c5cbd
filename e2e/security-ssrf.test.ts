import { createFetch, OutsideTrouble } from '@tollgate/kit/fetch'
import { type HttpFake, startHttpFake } from '@tollgate/kit/http-fake'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** Beside the table of kit/src/fetch.test.ts, which has its own: addresses inside, made by the family, over real connections. */

let inner: HttpFake
let port: string
beforeAll(async () => {
  inner = await startHttpFake(() => ({ text: 'reached' }))
  port = new URL(inner.origin).port
})
afterAll(() => inner.close())

/** This machine, its networks, and where clouds answer their tenants. */
const places = [
  ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '10.0.0.1', '10.255.255.254', '172.16.0.1', '172.31.255.254', '192.168.0.1'],
  ...[
    '169.254.169.254',
    '169.254.170.2',
    '100.64.0.1',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '198.18.0.1',
    '224.0.0.1',
  ],
  ...['240.0.0.1', '255.255.255.255', '203.0.113.1'],
]

/** The ways in which resolvers, browsers and servers have been brought to read an IPv4 address. */
const spellings: Record<string, (bytes: number[], number: number) => string> = {
  plain: (bytes) => bytes.join('.'),
  'with a dot at the end': (bytes) => `${bytes.join('.')}.`,
  decimal: (_, number) => String(number),
  hexadecimal: (_, number) => `0x${number.toString(16)}`,
  'hexadecimal in capitals': (_, number) => `0X${number.toString(16).toUpperCase()}`,
  octal: (_, number) => `0${number.toString(8)}`,
  'hexadecimal parts': (bytes) => bytes.map((byte) => `0x${byte.toString(16)}`).join('.'),
  'octal parts': (bytes) => bytes.map((byte) => `0${byte.toString(8)}`).join('.'),
  'many zeros': (bytes) => bytes.map((byte) => `000000${byte.toString(8)}`).join('.'),
  'three parts': ([a, b, c = 0, d = 0]) => `${a}.${b}.${c * 256 + d}`,
  'two parts': ([a, b = 0, c = 0, d = 0]) => `${a}.${(b * 256 + c) * 256 + d}`,
  'mixed parts': ([a = 0, b = 0, c, d]) => `0x${a.toString(16)}.0${b.toString(8)}.${c}.${d}`,
  escaped: (bytes) => [...bytes.join('.')].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join(''),
  'wide digits': (bytes) => bytes.join('.').replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
  'foreign dots': (bytes) => bytes.join('\u3002'),
  mapped: (bytes) => `[::ffff:${bytes.join('.')}]`,
  'mapped in hexadecimal': ([a = 0, b = 0, c = 0, d = 0]) => `[::ffff:${hex(a, b)}:${hex(c, d)}]`,
  'mapped at length': (bytes) => `[0:0:0:0:0:ffff:${bytes.join('.')}]`,
  translated: (bytes) => `[64:ff9b::${bytes.join('.')}]`,
  compatible: (bytes) => `[::${bytes.join('.')}]`,
  tunnelled: ([a = 0, b = 0, c = 0, d = 0]) => `[2002:${hex(a, b)}:${hex(c, d)}::1]`,
}

function hex(high: number, low: number): string {
  return (high * 256 + low).toString(16)
}

const numbers = places.flatMap((place) => {
  const bytes = place.split('.').map(Number)
  const number = bytes.reduce((sum, byte) => sum * 256 + byte, 0)
  return Object.entries(spellings).map(([kind, spell]) => ({ kind, host: spell(bytes, number) }))
})

const inside6 = [
  ...[
    '::',
    '::1',
    '0:0:0:0:0:0:0:1',
    'fe80::1',
    'febf::ffff',
    'fec0::1',
    'fc00::1',
    'fdff::1',
    'fd00:ec2::254',
    'ff02::1',
    'ff0e::1',
  ],
  ...[
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2001:10::1',
    '3fff::1',
    '5f00::1',
    '64:ff9b:1::1',
    '::ffff:0:7f00:1',
    '2002:7f00:1::1',
  ],
]

const open = (resolve: (host: string) => Promise<{ address: string; family: number }[]>) =>
  createFetch({ allowPrivate: false, timeout: 2, userAgent: 'a test', resolve })

const troubleWith = (asking: Promise<unknown>) =>
  asking.then(
    () => 'reached',
    (problem: unknown) => (problem instanceof OutsideTrouble ? problem.kind : String(problem)),
  )

describe('hostile addresses', () => {
  const hosts = [...new Set([...numbers.map(({ host }) => host), ...inside6.map((address) => `[${address}]`)])]

  test('are more than three hundred', () => {
    expect(hosts.length).toBeGreaterThan(300)
  })

  test('are refused in every spelling, and nobody inside is asked', async () => {
    // Whatever is taken for a name leads to this machine, so that nothing gets away by not being found.
    const fetch = open(async () => [{ address: '127.0.0.1', family: 4 }])
    const reached: string[] = []
    for (const host of hosts) {
      const kind = await troubleWith(fetch(`http://${host}:${port}/`))
      if (kind !== 'forbidden') reached.push(`${host}: ${kind}`)
    }
    await fetch.close()
    expect([reached, inner.requests]).toEqual([[], []])
  })

  test('are refused behind names, alone and among honest ones', async () => {
    const addresses = [...places, ...inside6].map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    const honest = { address: '1.1.1.1', family: 4 }
    const names = [
      'harmless.example',
      'metadata.google.internal',
      '169.254.169.254.nip.example',
      'localhost.evil.example',
      'xn--bcher-kva.example',
    ]
    let refused = 0
    for (const inside of addresses)
      for (const found of [[inside], [honest, inside], [inside, honest]]) {
        const name = names[refused % names.length]
        const fetch = open(async () => found)
        expect([inside.address, await troubleWith(fetch(`http://${name}:${port}/`))]).toEqual([inside.address, 'forbidden'])
        await fetch.close()
        refused++
      }
    expect([refused > 100, inner.requests]).toEqual([true, []])
  })

  test('an answer that leads inside is handed back, and not followed', async () => {
    const leading = await startHttpFake(() => ({ status: 302, headers: { location: inner.origin } }))
    const fetch = createFetch({ allowPrivate: true, timeout: 2, userAgent: 'a test' })
    const answer = await fetch(leading.origin)
    await fetch.close()
    await leading.close()
    expect([answer.status, answer.headers.location, inner.requests]).toEqual([302, inner.origin, []])
  })
})
