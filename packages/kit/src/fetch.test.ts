import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createFetch, type FetchSettings, OutsideTrouble } from './fetch.ts'
import { type FakeAnswering, type FakeTable, startHttpFake } from './http-fake.ts'

function open(settings: Partial<FetchSettings> = {}) {
  const fetch = createFetch({ allowPrivate: true, timeout: 5, userAgent: 'tollgate/test', ...settings })
  onTestFinished(() => fetch.close())
  return fetch
}

async function start(answers: FakeTable | FakeAnswering) {
  const fake = await startHttpFake(answers)
  onTestFinished(() => fake.close())
  return fake
}

async function troubleWith(asking: Promise<unknown>): Promise<OutsideTrouble> {
  const trouble = await asking.then(
    () => undefined,
    (problem: unknown) => problem,
  )
  expect(trouble).toBeInstanceOf(OutsideTrouble)
  return trouble as OutsideTrouble
}

/** Written apart by blanks. */
const words = (text: string) => text.trim().split(/\s+/)

const resolveTo =
  (...addresses: string[]) =>
  async (): Promise<LookupAddress[]> =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

describe('asking and answering', () => {
  test('method, headers and body arrive, and status, headers and body come back', async () => {
    const fake = await start({ 'POST /send': { status: 201, headers: { 'x-own': 'yes' }, json: { id: 'ü1' } } })
    const headers = { authorization: 'Basic eA==', 'content-type': 'text/plain' }
    const answer = await open()(`${fake.origin}/send?x=1`, { method: 'POST', headers, body: 'héllo' })
    expect([answer.status, answer.headers['x-own'], answer.text, answer.json()]).toEqual([
      201,
      'yes',
      '{"id":"ü1"}',
      { id: 'ü1' },
    ])
    expect(fake.requests).toMatchObject([
      { method: 'POST', query: { x: '1' }, body: 'héllo', headers: { ...headers, 'user-agent': 'tollgate/test' } },
    ])
  })

  test('every status is an answer, and the trouble with it is named on request', async () => {
    const fake = await start({ 'GET /user': { status: 503, text: 'token abc is busy' } })
    const answer = await open()(`${fake.origin}/user?access_token=abc`)
    expect([answer.status, answer.text]).toEqual([503, 'token abc is busy'])
    expect(answer.trouble()).toMatchObject({ kind: 'status', status: 503, what: 'answered 503' })
    expect(answer.trouble().message).toBe(`${new URL(fake.origin).host}: GET /user answered 503`)
  })

  test('whoever asks may say how the request is called', async () => {
    const fake = await start({})
    const answer = await open()(`${fake.origin}/private`, { asked: 'github: GET /user' })
    expect(answer.trouble().message).toBe('github: GET /user answered 404')
  })

  test.each([301, 302, 303, 307, 308])('a %d is handed back, not followed', async (status) => {
    const fake = await start({ 'GET /': { status, headers: { location: '/secret' } }, 'GET /secret': { text: 'followed' } })
    const answer = await open()(fake.origin)
    expect([answer.status, answer.headers.location]).toEqual([status, '/secret'])
    expect(fake.requests).toHaveLength(1)
  })

  test('a body that is no JSON is told without being quoted', async () => {
    const fake = await start({ 'GET /': { text: '<html>hunter2' } })
    const answer = await open()(fake.origin)
    expect(() => answer.json()).toThrow(/: GET \/ answered 200 with something that is not JSON$/)
  })

  test('a connection serves more than one request', async () => {
    const server = createServer((_, response) => void response.end('ok'))
    let connections = 0
    server.on('connection', () => connections++)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const fetch = open()
    for (let number = 0; number < 5; number++) await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    expect(connections).toBeLessThan(5)
  })
})

describe('limits', () => {
  const body = 'x'.repeat(2000)

  test('a body as long as the limit passes, a longer one does not, announced or not', async () => {
    const fake = await start({
      'GET /announced': { text: body, headers: { 'content-length': '2000' } },
      'GET /chunked': { text: body, headers: { 'transfer-encoding': 'chunked' } },
    })
    const fetch = open()
    for (const path of ['announced', 'chunked']) {
      expect((await fetch(`${fake.origin}/${path}`, { limit: 2000 })).text).toBe(body)
      const trouble = await troubleWith(fetch(`${fake.origin}/${path}`, { limit: 1999 }))
      expect(trouble).toMatchObject({ kind: 'too-large', status: 200, what: 'answered 200 with more than 1999 bytes' })
    }
    expect((await fetch(`${fake.origin}/announced`)).text).toBe(body)
  })

  test('an answer that goes on for ever ends at the limit', async () => {
    const server = createServer((_, response) => {
      const more = () => {
        while (!response.destroyed && response.write(body));
      }
      response.on('drain', more)
      more()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const trouble = await troubleWith(open()(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
    expect(trouble.kind).toBe('too-large')
  })

  test('one who never answers, and one who never ends, take longer than they may', async () => {
    const server = createServer((message, response) => {
      if (message.url === '/half') response.writeHead(200).write('half')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.closeAllConnections())
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
    for (const path of ['/', '/half']) {
      const trouble = await troubleWith(open()(`http://${host}${path}`, { timeout: 0.05 }))
      expect([trouble.kind, trouble.message]).toEqual(['timeout', `${host}: GET ${path} took longer than 0.05 s`])
    }
  })

  test('the time to find an address counts', async () => {
    const fetch = open({ timeout: 0.05, resolve: () => new Promise(() => {}) })
    expect(await troubleWith(fetch('http://slow.example/'))).toMatchObject({
      message: 'slow.example: GET / took longer than 0.05 s',
    })
  })
})

describe('trouble', () => {
  test.each(['cut', 'cut in the middle', 'garbage'] as const)('one who answers with %s broke off', async (answer) => {
    const fake = await start(() => answer)
    const trouble = await troubleWith(open()(`${fake.origin}/x`))
    expect(trouble.kind).toBe('broken')
    expect(trouble.message).toMatch(/^127\.0\.0\.1:\d+: GET \/x broke off \(\w+\)$/)
  })

  test('one who is not there could not be reached', async () => {
    const fake = await startHttpFake({})
    await fake.close()
    expect(await troubleWith(open()(fake.origin))).toMatchObject({
      kind: 'unreachable',
      what: 'could not be reached (ECONNREFUSED)',
    })
  })

  test('a name that nobody knows could not be reached', async () => {
    const unknown = async () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))
    for (const resolve of [unknown, resolveTo()]) {
      const trouble = await troubleWith(open({ resolve })('https://nobody.example/x'))
      expect([trouble.kind, trouble.message]).toEqual(['unreachable', 'nobody.example: GET /x could not be reached (ENOTFOUND)'])
    }
  })

  test('no error shows what was sent or received', async () => {
    const answers: FakeAnswering[] = [
      () => 'cut',
      () => 'garbage',
      () => 'hang',
      () => ({ text: 'hunter2'.repeat(9) }),
      () => ({ status: 500, text: 'hunter2' }),
    ]
    for (const answer of answers) {
      const fake = await start(answer)
      const asking = open()(`${fake.origin}/?key=hunter2`, {
        method: 'POST',
        headers: { authorization: 'Bearer hunter2' },
        body: 'secret=hunter2',
        timeout: 0.2,
        limit: 20,
      }).then((answered) => {
        throw answered.trouble()
      })
      const trouble = await troubleWith(asking)
      expect(inspect(trouble, { depth: 9, showHidden: true })).not.toContain('hunter2')
    }
  })

  test('an address that is wrong is not repeated', async () => {
    const addresses = [
      'hunter2',
      '//hunter2',
      'https://user:hunter2@host.example/',
      'https://hunter2@host.example/',
      'file:///hunter2',
    ]
    for (const address of addresses) {
      const trouble = await troubleWith(open()(address))
      expect([address, trouble.kind]).toEqual([address, 'forbidden'])
      expect(inspect(trouble, { depth: 9 })).not.toContain('hunter2')
    }
  })
})

describe('private addresses', () => {
  const literals = [
    ...words(`
    127.0.0.1 127.1 127.0.1 127.255.255.254 2130706433 0x7f000001 0x7F.0.0.1 0177.0.0.1 017700000001 0x7f.1 0x7f.0x0.0x0.0x1
    127.0.0.1. 127.0.0.0x1 00000177.0.0.01 %31%32%37.0.0.1 0 0.0.0.0 00 0x0 0.0 0.0.0.1 10.0.0.1 10.1 0xa000001 167772161
    012.0.0.1 172.16.0.1 172.31.255.254 2886729729 0xac100001 192.168.0.1 192.168.1 3232235521 0xc0a80001 0300.0250.0.1
    169.254.169.254 2852039166 0xa9fea9fe 0xa9.0xfe.0xa9.0xfe 0251.0376.0251.0376 169.254.43518 169.16689662 169.254.170.2
    100.100.100.200 100.64.0.1 168.63.129.16 192.0.0.192 198.18.0.1 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255
    0xffffffff 4294967295 192.0.2.1 198.51.100.1 203.0.113.1 192.88.99.1 [::] [::1] [0:0:0:0:0:0:0:1] [0000::0001] [::0.0.0.1]
    [::127.0.0.1] [::7f00:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:7f00:1] [::FFFF:127.0.0.1] [::ffff:0.0.0.0]
    [::ffff:10.0.0.1] [::ffff:a9fe:a9fe] [::ffff:192.168.0.1] [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b::7f00:1]
    [64:ff9b::a9fe:a9fe] [64:ff9b::10.0.0.1] [64:ff9b:1::127.0.0.1] [2002:7f00:1::] [2002:a9fe:a9fe::] [2001:0:7f00:1::]
    [fe80::1] [febf::1] [FE80::1] [fec0::1] [fc00::1] [fd00::1] [fd00:ec2::254] [fdff::1] [ff02::1] [ff0e::1] [100::1]
    [2001:db8::1] [3fff::1] [4000::1] [::8.8.8.8]
  `),
    ...['\uff11\uff12\uff17.0.0.1', '127\u30020\u30020\u30021', '\u2460\u2461\u2466.0.0.1'],
  ]
  const nonsense = [
    ...words(`
    [fe80::1%25eth0] [fe80::1%eth0] [::1 [127.0.0.1] 256.256.256.256 127.0.0.0.1 0x1ffffffff 127.0.0.1@127.0.0.1
    example.com@127.0.0.1 127.0.0.1:80@example.com a:b@[::1] [::1]@example.com 127.0.0.1%00.example.com
  `),
    ...['exa mple.com'],
  ]
  const schemes = [
    ...words(`
    ftp://127.0.0.1/ file:///etc/passwd gopher://127.0.0.1:25/_HELO data:text/plain,x javascript:1 ws://127.0.0.1/
    unix:/var/run/docker.sock dict://127.0.0.1:11211/ blob:http://127.0.0.1/1 about:blank / //127.0.0.1/ localhost
  `),
    ...[''],
  ]

  test('an address is refused in every spelling, and nobody is asked', async () => {
    const fake = await start(() => ({ text: 'reached' }))
    const { port } = new URL(fake.origin)
    const fetch = open({ allowPrivate: false, resolve: resolveTo('127.0.0.1') })
    const hostile = [...literals, ...nonsense].flatMap((host) => [`http://${host}:${port}/`, `https://${host}:${port}/`])
    expect(hostile.length + schemes.length).toBeGreaterThan(200)
    for (const address of [...hostile, ...schemes]) {
      const trouble = await troubleWith(fetch(address))
      expect([address, trouble.kind]).toEqual([address, 'forbidden'])
    }
    expect(fake.requests).toEqual([])
  })

  test.each([
    ...[
      '127.0.0.1',
      '10.0.0.1',
      '169.254.169.254',
      '0.0.0.0',
      '192.168.1.1',
      '::1',
      '::ffff:127.0.0.1',
      'fe80::1',
      'fe80::1%lo',
      'fd00:ec2::254',
    ],
    ...['64:ff9b::7f00:1', '224.0.0.1', '100.100.100.200'],
  ])('a name that leads to %s is refused', async (address) => {
    const fake = await start(() => ({ text: 'reached' }))
    const { port } = new URL(fake.origin)
    for (const addresses of [[address], ['1.1.1.1', address], [address, '2606:4700::1111']]) {
      const fetch = open({ allowPrivate: false, resolve: resolveTo(...addresses) })
      const trouble = await troubleWith(fetch(`http://harmless.example:${port}/x`))
      expect([trouble.kind, trouble.message]).toEqual([
        'forbidden',
        `harmless.example:${port}: GET /x is not at a public address`,
      ])
    }
    expect(fake.requests).toEqual([])
  })

  test.each(['localhost', 'LOCALHOST', 'localhost.'])('%s is refused as the system finds it', async (name) => {
    const fake = await start(() => ({ text: 'reached' }))
    const trouble = await troubleWith(open({ allowPrivate: false })(`http://${name}:${new URL(fake.origin).port}/`))
    expect(['forbidden', 'unreachable']).toContain(trouble.kind)
    expect(fake.requests).toEqual([])
  })

  test('a name is looked up once a connection, and what was checked is what is connected to', async () => {
    const fake = await start(() => ({ text: 'reached' }))
    const { port } = new URL(fake.origin)
    const asked: string[] = []
    // The first answer is the harmless one; whoever looked a second time would find this machine.
    const resolve = async (host: string) => {
      asked.push(host)
      return [{ address: asked.length === 1 ? '192.0.2.1' : '127.0.0.1', family: 4 }]
    }
    const trouble = await troubleWith(open({ timeout: 0.1, resolve })(`http://rebound.example:${port}/`))
    expect(['timeout', 'unreachable', 'broken']).toContain(trouble.kind)
    expect([asked, fake.requests]).toEqual([['rebound.example'], []])
  })

  test('they are spoken to when that is allowed, by name and by number', async () => {
    const fake = await start({ 'GET /': { text: 'reached' } })
    const { port } = new URL(fake.origin)
    const fetch = open({ resolve: resolveTo('127.0.0.1') })
    for (const host of ['127.0.0.1', '2130706433', 'inner.example'])
      expect((await fetch(`http://${host}:${port}/`)).text).toBe('reached')
  })
})
