import { type FakeAnswering, type FakeTable, type HttpFake, startHttpFake } from '@tollgate/kit/http-fake'
import { gate, keptLog, stillClock } from '@tollgate/kit/testing'
import { afterEach, expect, test } from 'vitest'
import { createTemplateSource } from './custom-templates.ts'
import { occasionalWarning } from './occasional-warning.ts'

const fakes: HttpFake[] = []
afterEach(async () => {
  for (const fake of fakes.splice(0)) await fake.close()
})

async function start(answers: FakeTable | FakeAnswering, options: { path?: string; timeout?: number } = {}) {
  const fake = await startHttpFake(answers)
  fakes.push(fake)
  const now = stillClock()
  const { log, lines } = keptLog()
  const { timeout = 5000 } = options
  const source = createTemplateSource({
    siteUrl: fake.origin + (options.path ?? ''),
    now,
    warn: occasionalWarning(log, now),
    timeout,
  })
  return { fake, now, source, warnings: () => lines.map(({ message }) => message.replaceAll(fake.origin, 'ORIGIN')) }
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
  expect(warnings()).toEqual([expect.stringMatching(/cannot be fetched: .*; the copy fetched before is used instead$/)])
})

test('a template that was taken away is forgotten', async () => {
  const { fake, now, source } = await start({ 'GET /t': { text: 'good' } })
  await source.find('/t')
  fake.answer({})
  now.advance(600)
  expect(await source.find('/t')).toBeUndefined()
})

test.each([
  { what: 'nothing in time', answer: 'hang', warning: 'ORIGIN/t cannot be fetched: no answer in time' },
  { what: 'a hang-up in the middle', answer: 'cut in the middle', warning: 'ORIGIN/t cannot be fetched: other side closed' },
  { what: 'an empty page', answer: { text: ' \n' }, warning: 'GET ORIGIN/t answered an empty page' },
  {
    what: 'a megabyte and a byte',
    answer: { text: 'x'.repeat(1_000_001) },
    warning: 'GET ORIGIN/t answered more than 1000000 bytes',
  },
  {
    what: 'a redirect to another host',
    answer: { status: 302, headers: { location: 'http://169.254.169.254/latest' } },
    warning: 'ORIGIN/t redirects to another host, http://169.254.169.254',
  },
  { what: 'a redirect to itself', answer: { status: 302, headers: { location: '/t' } }, warning: 'ORIGIN/t redirects too often' },
] as const)('$what is a failure', async ({ answer, warning }) => {
  const { source, warnings } = await start({ 'GET /t': answer }, answer === 'hang' ? { timeout: 50 } : {})
  expect(await source.find('/t?key=secret')).toBeUndefined()
  expect(warnings()).toEqual([`${warning}; the built-in template is used instead`])
})

test('a template of exactly a megabyte, behind a redirect on the same host, is taken', async () => {
  const { source } = await start({
    'GET /t': { status: 301, headers: { location: '/u' } },
    'GET /u': { text: 'x'.repeat(1_000_000) },
  })
  expect(await source.find('/t')).toHaveLength(1_000_000)
})

test('an address that is none is a failure too', async () => {
  const { source, warnings } = await start({})
  expect(await source.find('http://[')).toBeUndefined()
  expect(warnings()).toEqual([expect.stringContaining('Invalid URL')])
})
