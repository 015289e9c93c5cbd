import { createFetch, type Fetch } from '@tollgate/kit/fetch'
import { type FakeAnswering, type FakeTable, type HttpFake, startHttpFake } from '@tollgate/kit/http-fake'
import { gate, keptLog, stillClock } from '@tollgate/kit/testing'
import { afterAll, afterEach, expect, test } from 'vitest'
import { createTemplateSource } from './custom-templates.ts'
import { occasionalWarning } from './occasional-warning.ts'

const fakes: HttpFake[] = []
afterEach(async () => {
  for (const fake of fakes.splice(0)) await fake.close()
})

const outside = createFetch({ allowPrivate: true, timeout: 5, userAgent: 'tollgate/test' })
const guarded = createFetch({ allowPrivate: false, timeout: 5, userAgent: 'tollgate/test' })
afterAll(async () => {
  await outside.close()
  await guarded.close()
})

async function start(answers: FakeTable | FakeAnswering, options: { path?: string; fetch?: Fetch } = {}) {
  const fake = await startHttpFake(answers)
  fakes.push(fake)
  const now = stillClock()
  const { log, lines } = keptLog()
  const { path = '', fetch = outside } = options
  const source = createTemplateSource({
    siteUrl: fake.origin + path,
    cache: { maxSize: 1_000_000, maxAge: 600, retryInterval: 10 },
    now,
    fetch,
    warn: occasionalWarning(log, now),
  })
  return { fake, now, source, lines, warnings: () => lines.map(({ message }) => message.replaceAll(fake.origin, 'ORIGIN')) }
}

test('a template is fetched once in ten minutes', async () => {
  const { fake, now, source } = await start({ 'GET /invite.html': { text: '<p>1' } })
  expect(await source.find('/invite.html')).toBe('<p>1')
  fake.answer({ 'GET /invite.html': { text: '<p>2' } })
  now.advance(599)
  expect(await source.find('/invite.html')).toBe('<p>1')
  now.advance(1)
  expect(await source.find('/invite.html')).toBe('<p>2')
  expect(fake.requests).toHaveLength(2)
})

test('many who ask at once share a fetch', async () => {
  const door = gate<unknown, { text: string }>()
  const { fake, source } = await start((request) => door.enter(request))
  const found = Promise.all(Array.from({ length: 20 }, () => source.find('/t')))
  await door.entered()
  door.leave(1, { text: 'x' })
  expect(await found).toEqual(Array(20).fill('x'))
  expect(fake.requests).toHaveLength(1)
})

test.each([
  { path: '', location: '/mail/t.html', asked: '/mail/t.html' },
  { path: '/', location: 'mail/t.html', asked: '/mail/t.html' },
  { path: '/shop/', location: '/mail/t.html', asked: '/shop/mail/t.html' },
])('$location of a site at "$path" is $asked', async ({ path, location, asked }) => {
  const { source, fake } = await start({ [`GET ${asked}`]: { text: 'x' } }, { path })
  expect(await source.find(location)).toBe('x')
  expect(await source.find(fake.origin + asked)).toBe('x')
})

test('a failed fetch is tried again after ten seconds, and warned about every ten minutes', async () => {
  const { fake, now, source, warnings } = await start({ 'GET /t': { status: 503 } })
  expect(await source.find('/t')).toBeUndefined()
  now.advance(9)
  expect(await source.find('/t')).toBeUndefined()
  expect(fake.requests).toHaveLength(1)
  now.advance(1)
  expect(await source.find('/t')).toBeUndefined()
  expect(fake.requests).toHaveLength(2)
  expect(warnings()).toEqual(['GET ORIGIN/t answered 503; the built-in template is used instead'])
  now.advance(600)
  await source.find('/t')
  expect(warnings()).toHaveLength(2)
  fake.answer({ 'GET /t': { text: 'back' } })
  now.advance(10)
  expect(await source.find('/t')).toBe('back')
})

test('a copy outlives a failure of its server', async () => {
  const { fake, now, source, warnings } = await start({ 'GET /t': { text: 'good' } })
  await source.find('/t')
  fake.answer({ 'GET /t': 'cut' })
  now.advance(600)
  expect(await source.find('/t')).toBe('good')
  expect(warnings()).toEqual([expect.stringMatching(/GET ORIGIN\/t broke off .*; the copy fetched before is used instead$/)])
})

test('a template that was taken away is forgotten', async () => {
  const { fake, now, source } = await start({ 'GET /t': { text: 'good' } })
  await source.find('/t')
  fake.answer({})
  now.advance(600)
  expect(await source.find('/t')).toBeUndefined()
})

const impatient: Fetch = (url, asked = {}) => outside(url, { ...asked, timeout: Number(asked.timeout) / 200 })

test.each([
  { what: 'nothing in time', answer: 'hang', fetch: impatient, warning: 'GET ORIGIN/t took longer than 0.05 s' },
  { what: 'a hang-up in the middle', answer: 'cut in the middle', warning: 'GET ORIGIN/t broke off (UND_ERR_SOCKET)' },
  { what: 'an address inside of the network', answer: {}, fetch: guarded, warning: 'GET ORIGIN/t is not at a public address' },
  { what: 'an empty page', answer: { text: ' \n' }, warning: 'GET ORIGIN/t answered an empty page' },
  {
    what: 'a megabyte and a byte',
    answer: { text: 'x'.repeat(1_000_001) },
    warning: 'GET ORIGIN/t answered 200 with more than 1000000 bytes',
  },
  {
    what: 'a redirect to another host',
    answer: { status: 302, headers: { location: 'http://169.254.169.254/latest?key=secret' } },
    warning: 'ORIGIN/t redirects elsewhere, to http://169.254.169.254',
  },
  {
    what: 'a redirect to nowhere',
    answer: { status: 302, headers: { location: 'http://[' } },
    warning: 'ORIGIN/t redirects elsewhere',
  },
  {
    what: 'a redirect to another kind of address',
    answer: { status: 302, headers: { location: 'data:text/html,x' } },
    warning: 'ORIGIN/t redirects elsewhere',
  },
  { what: 'a redirect to itself', answer: { status: 302, headers: { location: '/t' } }, warning: 'ORIGIN/t redirects too often' },
] as const)('$what is a failure', async ({ answer, warning, ...more }) => {
  const { source, warnings, lines } = await start({ 'GET /t': answer }, more)
  expect(await source.find('/t?key=secret')).toBeUndefined()
  expect(warnings()).toEqual([`${warning}; the built-in template is used instead`])
  expect(JSON.stringify(lines)).not.toContain('secret')
})

test('a redirect from https down to http is not followed', async () => {
  const asked: string[] = []
  const fetch: Fetch = async (url) => {
    asked.push(url)
    const answer = { status: 302, headers: { location: 'http://site.test/t' }, text: '' }
    return answer as Awaited<ReturnType<Fetch>>
  }
  const { source, warnings } = await start({}, { fetch })
  expect(await source.find('https://site.test/t')).toBeUndefined()
  expect(asked).toEqual(['https://site.test/t'])
  expect(warnings()).toEqual([expect.stringContaining('https://site.test/t redirects elsewhere, to http://site.test;')])
})

test('ten seconds have to do for all redirects together', async () => {
  const allowed: unknown[] = []
  const fetch: Fetch = (url, asked) => {
    allowed.push(asked?.timeout)
    return outside(url, asked)
  }
  let slowness = 4
  const { source, now, warnings } = await start(
    () => {
      now.advance(slowness)
      return { status: 302, headers: { location: '/t' } }
    },
    { fetch },
  )
  expect(await source.find('/t')).toBeUndefined()
  expect(allowed).toEqual([10, 6, 2])
  expect(warnings()).toEqual(['GET ORIGIN/t was not answered within 10 s; the built-in template is used instead'])

  slowness = -3600
  now.advance(10)
  await source.find('/t')
  expect(allowed.slice(3)).toEqual([10, 10, 10, 10])
})

test('a page that says at length that it is gone is gone', async () => {
  const { fake, now, source } = await start({ 'GET /t': { text: 'good' } })
  await source.find('/t')
  fake.answer({ 'GET /t': { status: 410, text: 'x'.repeat(1_000_001) } })
  now.advance(600)
  expect(await source.find('/t')).toBeUndefined()
})

test('the mark of some editors at the beginning is not part of a template', async () => {
  const { source } = await start({ 'GET /t': { text: '\uFEFF<!doctype html>' } })
  expect(await source.find('/t')).toBe('<!doctype html>')
})

test('a template of exactly a megabyte, behind a redirect on the same host, is taken', async () => {
  const { source } = await start({
    'GET /t': { status: 301, headers: { location: '/u' } },
    'GET /u': { text: 'x'.repeat(1_000_000) },
  })
  expect(await source.find('/t')).toHaveLength(1_000_000)
})

test.each([
  { location: 'http://[?key=secret', warning: 'The address of the template cannot be understood' },
  { location: 'http://post:secret@site.test/t', warning: 'GET http://site.test/t has credentials in its address' },
])('$location is a failure too', async ({ location, warning }) => {
  const { source, lines } = await start({})
  expect(await source.find(location)).toBeUndefined()
  expect(lines).toMatchObject([{ message: `${warning}; the built-in template is used instead` }])
  expect(JSON.stringify(lines)).not.toContain('secret')
})
