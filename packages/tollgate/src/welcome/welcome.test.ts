import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { ListenProblem } from '@tollgate/kit/listen'
import { afterEach, expect, test } from 'vitest'
import type { Facts } from './facts.ts'
import { type Visit, visitWelcome } from './testing.ts'
import { startWelcome } from './welcome.ts'

const endings: (() => unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

async function visit(some: Partial<Facts> = {}): Promise<Visit> {
  const here = await visitWelcome(some)
  endings.push(here.close)
  return here
}

/** A service that answers its health with a status, or not at all. */
async function serviceThat(answers: number | 'hangs', name: string): Promise<Facts['services'][number]> {
  const server = createServer((_, response) => void (answers !== 'hangs' && response.writeHead(answers).end('{}')))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  endings.push(() => server.close().closeAllConnections())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { name, title: `The ${name} service`, url, docs: `${url}/docs`, openapi: `${url}/openapi.json` }
}

test('the welcome page tells every address, key and first command', async () => {
  const service = await serviceThat(200, 'identity')
  const { ask } = await visit({
    services: [service],
    keys: [{ name: 'anon key', value: 'anon-value', explanation: 'For browsers.' }],
    database: 'postgres://ada:s3cret@127.0.0.1:5433/tollgate',
    firstSteps: [{ title: 'Ask', command: `curl '${service.url}/settings?a=1&b=2'` }],
  })
  const { status, headers, body } = await ask('/')
  expect(status).toBe(200)
  expect(headers['content-type']).toBe('text/html; charset=utf-8')
  for (const shown of [service.url, service.docs, service.openapi, '9.8.7', 'anon-value', 'For browsers.', '/home/ada/.tollgate'])
    expect(body).toContain(shown)
  expect(body).toContain('postgres://ada:••••••@127.0.0.1:5433/tollgate')
  expect(body).toContain(`<pre>curl &#39;${service.url}/settings?a=1&#38;b=2&#39;</pre>`)
  expect(body).toContain('The identity service')
  expect(body).toMatch(/data-healthy="true">Running</)
})

test('the button of the test provider is there where there is one', async () => {
  const button = 'Sign in with the test provider'
  const { ask } = await visit({ testSignIn: 'http://localhost:8081/authorize?provider=custom%3Atest&redirect_to=x' })
  expect((await ask('/')).body).toContain(
    `href="http://localhost:8081/authorize?provider=custom%3Atest&#38;redirect_to=x">${button}</a>`,
  )
  expect((await (await visit()).ask('/')).body).not.toContain(button)
})

test('the page for people who come back may ask the identity service, and no other page may', async () => {
  const service = await serviceThat(200, 'identity')
  const { ask } = await visit({ services: [service] })
  const { status, headers, body } = await ask('/signed-in?error=access_denied&error_description=%3Cb%3E')
  expect(status).toBe(200)
  expect(body).toContain(`data-identity="${service.url}"`)
  expect(body).not.toContain('access_denied')
  expect(headers['content-security-policy']).toContain(`connect-src 'self' ${service.url};`)
  expect((await ask('/')).headers['content-security-policy']).toContain("connect-src 'self';")
})

test('without an identity service there is nobody to come back from', async () => {
  const { ask } = await visit()
  expect((await ask('/signed-in')).status).toBe(404)
})

test('a secret is readable without a script, but only when asked for', async () => {
  const { ask } = await visit({ keys: [{ name: 'JWT secret', value: 'sign-with-this', explanation: '' }] })
  expect((await ask('/')).body).toMatch(/<details><summary>.*••••.*<\/summary><code>sign-with-this<\/code><\/details>/)
})

test('the status tells which services answer, within a second or so', async () => {
  const services = await Promise.all([serviceThat(200, 'well'), serviceThat(503, 'ill'), serviceThat('hangs', 'stuck')])
  const gone = { name: 'gone', title: 'Gone', url: 'http://127.0.0.1:1', docs: '', openapi: '' }
  const { ask } = await visit({ services: [...services, gone] })
  const { headers, body } = await ask('/status.json')
  expect(headers['content-type']).toBe('application/json')
  expect(JSON.parse(body).services).toEqual([
    { name: 'well', healthy: true, said: 'Running' },
    { name: 'ill', healthy: false, said: 'Answers 503' },
    { name: 'stuck', healthy: false, said: 'Not answering' },
    { name: 'gone', healthy: false, said: 'Not answering' },
  ])
})

test.each(['localhost', 'localhost:8080', '127.0.0.1:1', '[::1]:8080', 'LOCALHOST'])('the host %s is served', async (host) => {
  const { ask } = await visit()
  expect((await ask('/favicon.svg', { headers: { host } })).status).toBe(200)
})

test.each([
  'evil.example',
  'evil.example:8080',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  '10.0.0.1',
  'localhost@evil',
])('the host %s is refused, whatever is asked for', async (host) => {
  const { ask } = await visit({ keys: [{ name: 'key', value: 'worth-hiding', explanation: '' }] })
  for (const path of ['/', '/inbox', '/inbox.json', '/inbox/events', '/status.json', '/nowhere']) {
    const { status, headers, body } = await ask(path, { headers: { host } })
    expect(status).toBe(421)
    expect(headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(body).not.toContain('worth-hiding')
  }
})

test('every answer forbids sniffing, referrers, framing and other origins', async () => {
  const { ask } = await visit()
  for (const path of ['/', '/inbox', '/inbox.json', '/status.json', '/favicon.svg', '/nowhere']) {
    const { headers } = await ask(path, { headers: { origin: 'http://evil.example' } })
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['referrer-policy']).toBe('no-referrer')
    expect(headers['content-security-policy']).toContain("default-src 'none'")
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
    expect(headers['content-security-policy']).not.toContain('unsafe')
    expect(headers['access-control-allow-origin']).toBeUndefined()
  }
})

test('an unknown address is answered 404 with a way back', async () => {
  const { ask } = await visit()
  for (const path of ['/nowhere', '/inbox/77', '/inbox/77/html', '/inbox/77/raw', '/inbox/../etc/passwd', '//', '/%']) {
    const { status, body } = await ask(path)
    expect([path, status]).toEqual([path, 404])
    expect(body).toContain('<a class="button primary" href="/">')
  }
})

test('a wrong method is answered 405 with the right ones', async () => {
  const { ask } = await visit()
  expect(await ask('/', { method: 'POST' })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
  expect(await ask('/inbox', { method: 'PUT' })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, DELETE' } })
  expect(await ask('/inbox/clear')).toMatchObject({ status: 405, headers: { allow: 'POST' } })
})

test('HEAD answers like GET, without the body', async () => {
  const { ask } = await visit()
  for (const path of ['/', '/inbox', '/inbox.json', '/favicon.svg']) {
    const [get, head] = await Promise.all([ask(path), ask(path, { method: 'HEAD' })])
    expect(head).toMatchObject({ status: 200, body: '' })
    expect(head.headers['content-length']).toBe(get.headers['content-length'])
  }
  expect(await ask('/inbox/events', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' })
})

test('a taken port is told in a sentence', async () => {
  const { port, sink } = await visit()
  const facts = {
    version: '',
    services: [],
    keys: [],
    database: '',
    smtp: { host: '', port: 0 },
    sms: '',
    firstSteps: [],
    dataFolder: '',
  }
  const second = startWelcome({ host: '127.0.0.1', port, facts, inbox: sink })
  await expect(second).rejects.toThrow(ListenProblem)
  await expect(second).rejects.toThrow('TOLLGATE_PORT')
})

test('closing takes less than a second, with an open event stream and an idle connection', async () => {
  const here = await visitWelcome()
  const stream = await fetch(`http://127.0.0.1:${here.port}/inbox/events`)
  const idle = connect(here.port, '127.0.0.1')
  await once(idle, 'connect')
  const started = performance.now()
  await here.close()
  expect(performance.now() - started).toBeLessThan(1_000)
  expect(await stream.text()).toContain('event: inbox')
  idle.destroy()
})
