import { identity } from '@tollgate/identity/main'
import { startIdentity } from '@tollgate/identity/testing'
import { say } from '@tollgate/kit/testing'
import { payments } from '@tollgate/payments/main'
import { startPayments } from '@tollgate/payments/testing'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'

let services: { identity: Awaited<ReturnType<typeof startIdentity>>; payments: Awaited<ReturnType<typeof startPayments>> }
beforeAll(async () => {
  services = { identity: await startIdentity(), payments: await startPayments() }
})
afterAll(async () => {
  await services.identity.stop()
  await services.payments.stop()
})

async function count(url: string, table: string): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query(`select count(*)::int as count from ${table}`)
  await client.end()
  return rows[0].count
}

test('a new installation has nobody in it', async () => {
  const [one, other] = [services.identity.app.config.db.url.reveal(), services.payments.app.config.db.url.reveal()]
  for (const table of ['auth.users', 'auth.identities', 'auth.sessions'])
    expect([table, await count(one, table)]).toEqual([table, 0])
  for (const table of ['pay.apps', 'pay.users', 'pay.merchants', 'pay.members'])
    expect([table, await count(other, table)]).toEqual([table, 0])
})

test('no secret has a default that everybody knows', () => {
  for (const { name, settings } of [identity, payments]) {
    const secrets = settings.declared.filter(({ secret }) => secret)
    expect([name, secrets.length > 3]).toEqual([name, true])
    for (const { name: setting, fallback } of secrets) expect([setting, fallback]).toEqual([setting, undefined])
  }
})

test.each([
  ['both lengths', 'Content-Length: 5\r\nTransfer-Encoding: chunked', '0\r\n\r\n'],
  ['two lengths', 'Content-Length: 5\r\nContent-Length: 6', 'hello!'],
  ['a list of lengths', 'Content-Length: 5, 6', 'hello!'],
  ['a length that is none', 'Content-Length: +5', 'hello'],
  ['a coding that nobody knows', 'Transfer-Encoding: xchunked', '0\r\n\r\n'],
  ['a coding twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', '0\r\n\r\n'],
  ['a blank before the colon', 'Content-Length : 5', 'hello'],
  ['a line that goes on', 'X-Long: a\r\n b\r\nContent-Length : 5', 'hello'],
])('a request whose end could be understood in two ways is refused: %s', async (_, headers, body) => {
  for (const { origin } of Object.values(services)) {
    const smuggled = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n'
    const heard = await say(origin, `POST /nothing HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n${body}${smuggled}`)
    expect([headers, heard.match(/HTTP\/1\.1 \d{3}/g)]).toEqual([headers, ['HTTP/1.1 400']])
  }
})

test('no file of the machine is served, however it is asked for', async () => {
  const paths = [
    ...[
      '/',
      '/package.json',
      '/.env',
      '/.git/config',
      '/dist/',
      '/pos/assets',
      '/pos/assets/',
      '/pos/assets/..',
      '/..%2f..%2fetc%2fpasswd',
    ],
    ...['/pos/assets/..%2f..%2fpackage.json', '/pos/assets/%2e%2e/%2e%2e/package.json', '/../../etc/passwd', '//etc/passwd'],
    ...[
      '/pos/assets/..%5c..%5cpackage.json',
      '/pos/assets/package.json%00.js',
      '/docs/../package.json',
      '/server-status',
      '/debug',
    ],
  ]
  for (const { origin } of Object.values(services))
    for (const path of paths) {
      const heard = await say(origin, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
      expect([path, heard.slice(0, 12)]).toEqual([path, expect.stringMatching(/^HTTP\/1\.1 40[04]$/)])
    }
})
