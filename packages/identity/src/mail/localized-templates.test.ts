import { createFetch } from '@tollgate/kit/fetch'
import { type FakeAnswering, type FakeTable, startHttpFake } from '@tollgate/kit/http-fake'
import { gate, keptLog, stillClock } from '@tollgate/kit/testing'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { createTemplateSource } from './custom-templates.ts'
import { createLocalizedTemplates, parseTemplateLocation } from './localized-templates.ts'
import { occasionalWarning } from './occasional-warning.ts'

const fetch = createFetch({ allowPrivate: true, timeout: 5, userAgent: 'tollgate/test' })
afterAll(() => fetch.close())

async function start(answers: FakeTable | FakeAnswering) {
  const site = await startHttpFake(answers)
  onTestFinished(() => site.close())
  const now = stillClock()
  const { log, lines } = keptLog()
  const cache = { maxSize: 1_000_000, maxAge: 600, retryInterval: 10 }
  const source = createTemplateSource({ siteUrl: site.origin, cache, now, fetch, warn: occasionalWarning(log, now) })
  const templates = createLocalizedTemplates(source, now)
  return {
    site,
    now,
    source,
    find: (locale?: string) => templates.find('/{locale}/t.html', locale),
    templates,
    /** Which addresses were asked for since the last time. */
    asked: () => site.requests.splice(0).map(({ path }) => path),
    warnings: () => lines.map(({ message, template }) => [template, message.replaceAll(site.origin, 'ORIGIN')]),
  }
}

test('the full tag is asked for, then the plain language, then English', async () => {
  const { find, asked } = await start({ 'GET /en/t.html': { text: 'English' } })
  expect(await find('pt-br')).toBe('English')
  expect(asked()).toEqual(['/pt-br/t.html', '/pt/t.html', '/en/t.html'])
})

test.each([
  ['pt-br', 'Brasil'],
  ['pt-pt', 'Portugal'],
  ['pt', 'Portugal'],
  ['en-us', 'English'],
  ['is', 'English'],
  [undefined, 'English'],
])('a reader of %s gets %s', async (locale, text) => {
  const { find, warnings } = await start({
    'GET /pt-br/t.html': { text: 'Brasil' },
    'GET /pt/t.html': { text: 'Portugal' },
    'GET /en/t.html': { text: 'English' },
  })
  expect(await find(locale)).toBe(text)
  expect(warnings()).toEqual([])
})

test('without English either the built-in one is used, and the operator is told once', async () => {
  const { find, now, warnings } = await start({})
  for (const locale of ['pt-br', 'de', undefined]) {
    now.advance(10)
    expect(await find(locale)).toBeUndefined()
  }
  expect(warnings()).toEqual([['/{locale}/t.html', 'GET ORIGIN/en/t.html answered 404; the built-in template is used instead']])
})

test('a language that there is no template for is not asked for again before ten minutes', async () => {
  const { find, now, asked } = await start({ 'GET /en/t.html': { text: 'English' } })
  await find('is')
  asked()
  now.advance(599)
  await find('is')
  expect(asked()).toEqual([])
  now.advance(1)
  await find('is')
  expect(asked()).toEqual(['/is/t.html', '/en/t.html'])
})

test('a template that appears is found, and one that is taken away is not kept', async () => {
  const { find, now, site } = await start({ 'GET /en/t.html': { text: 'English' }, 'GET /de/t.html': { text: 'Deutsch' } })
  expect([await find('de'), await find('is')]).toEqual(['Deutsch', 'English'])
  site.answer({ 'GET /en/t.html': { text: 'English' }, 'GET /is/t.html': { text: 'Íslenska' } })
  now.advance(600)
  expect([await find('de'), await find('is')]).toEqual(['English', 'Íslenska'])
})

test('a server in trouble is told of by the pattern, whatever the languages are', async () => {
  const { find, warnings } = await start(() => ({ status: 503 }))
  for (let index = 0; index < 50; index++) await find(invented(index))
  expect(warnings()).toEqual([['/{locale}/t.html', 'GET ORIGIN/aaa/t.html answered 503; another is used instead']])
})

test('the languages that many readers of one moment share are asked for once', async () => {
  const door = gate<unknown, { text: string }>()
  const { find, site } = await start((request) => door.enter(request))
  const found = Promise.all(Array.from({ length: 20 }, () => find('de')))
  await door.entered()
  door.leave(1, { text: 'Deutsch' })
  expect(await found).toEqual(Array(20).fill('Deutsch'))
  expect(site.requests).toHaveLength(1)
})

/** Three letters for every number: aaa, aab, … */
function invented(index: number): string {
  return [676, 26, 1].map((size) => String.fromCharCode(97 + (Math.floor(index / size) % 26))).join('')
}

test('whoever makes languages up gets two hundred of them fetched in ten minutes, and does not push out those that there are', async () => {
  const { find, now, asked, source } = await start({
    'GET /en/t.html': { text: 'English' },
    'GET /de/t.html': { text: 'Deutsch' },
    'GET /is/t.html': { text: 'Íslenska' },
  })
  await find('de')
  for (let index = 0; index < 1000; index++) expect(await find(invented(index))).toBe('English')
  expect(asked()).toHaveLength(1 + 199 + 1)
  // There is no room for another language now, but those in use stay good.
  expect([await find('is'), await find('de')]).toEqual(['English', 'Deutsch'])
  expect(asked()).toEqual([])

  now.advance(600)
  expect(await find('is')).toBe('Íslenska')
  for (let index = 1000; index < 2000; index++) await find(invented(index))
  expect(source.sizeOf('/de/t.html')).toBe('Deutsch'.length)
  expect(asked().length).toBeLessThanOrEqual(200 + 1)
})

test('where there is a page for everything that is made up, the oldest make room after ten minutes', async () => {
  const { find, now, asked } = await start(({ path }) => ({ text: path }))
  for (let index = 0; index < 300; index++) await find(invented(index))
  expect(await find('de')).toBe('/en/t.html')
  expect(asked()).toHaveLength(200 + 1)
  now.advance(600)
  expect(await find('de')).toBe('/de/t.html')
})

test('one pattern that is full leaves the others their room', async () => {
  const { find, templates } = await start({ 'GET /en/t.html': { text: 'English' }, 'GET /other/de.html': { text: 'Deutsch' } })
  for (let index = 0; index < 200; index++) await find(invented(index))
  expect(await templates.find('/other/{locale}.html', 'de')).toBe('Deutsch')
})

test('of a server that has a long page for every language ten million characters are kept', async () => {
  const { find, source } = await start(() => ({ text: 'x'.repeat(1_000_000) }))
  for (let index = 0; index < 30; index++) expect(await find(invented(index))).toHaveLength(1_000_000)
  const kept = Array.from({ length: 30 }, (_, index) => source.sizeOf(`/${invented(index)}/t.html`))
  expect(kept.reduce((sum, size) => sum + size)).toBe(10_000_000)
  expect(kept.at(-1)).toBe(1_000_000)
})

test.each(['../secret', 'de/../../x', 'de?x', 'DE', '', 'de#', 'de%2e', 'de.'])(
  '%j never gets into an address',
  async (locale) => {
    const { find, asked } = await start({ 'GET /en/t.html': { text: 'English' } })
    expect(await find(locale)).toBe('English')
    expect(asked()).toEqual(['/en/t.html'])
  },
)

test('a location without a place for the language is the same for everybody', async () => {
  const { templates, asked } = await start({ 'GET /t.html': { text: 'x' } })
  expect([await templates.find('/t.html', 'de'), await templates.find('/t.html', undefined)]).toEqual(['x', 'x'])
  expect(asked()).toEqual(['/t.html'])
})

test.each(['https://{locale}.site.test/t', 'https://site.{locale}', 'HTTP://x:{locale}/t', 'https://{locale}@x/t'])(
  'callers cannot be let to choose a host, as %s would',
  (location) => {
    expect(parseTemplateLocation(location)).toEqual({ expected: 'an address that has {locale} only behind its host' })
  },
)
