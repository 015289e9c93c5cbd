import { createHash } from 'node:crypto'
import Type from 'typebox'
import { expect, test } from 'vitest'
import { docsPage } from './docs-page.ts'
import { anyone, type Endpoint, Nothing } from './endpoint.ts'

const hostile = '<script>alert("1")</script>'

const thing: Endpoint<unknown> = {
  method: 'POST',
  path: '/things/{id}',
  summary: `Make ${hostile}`,
  description: hostile,
  tag: hostile,
  caller: { security: { name: 'key', scheme: { description: hostile } }, fails: [], identify: () => undefined },
  params: Type.Object({ id: Type.String({ description: hostile }) }),
  body: Type.Object({
    kind: Type.Union([Type.Literal('a'), Type.Literal(hostile)]),
    card: Type.Optional(Type.Union([Type.Object({ month: Type.Integer() }), Type.Null()])),
    tags: Type.Optional(Type.Array(Type.Object({ word: Type.String() }))),
  }),
  reply: { 201: Type.Object({ id: Type.String({ format: 'uuid' }) }) },
  fails: ['gone'],
  run: () => ({}),
}
const eitherWay: Endpoint<unknown> = {
  ...thing,
  method: 'PUT',
  caller: {
    ...thing.caller,
    security: { name: 'key', scheme: { description: 'a key' } },
    alternatives: [{ name: 'token', scheme: {} }],
  },
}
const removal: Endpoint<unknown> = { ...thing, method: 'DELETE', caller: anyone, reply: { 204: Nothing }, tag: 'Things' }

const { page, policy } = docsPage({
  title: hostile,
  version: '1',
  description: hostile,
  endpoints: [thing, eitherWay, removal],
  failures: { gone: [410, hostile], bad_json: [400, 'Unreadable'], validation_failed: [400, 'Wrong'] },
  failureShape: () => Type.Object({}),
  bodyTypes: ['application/json'],
})

test('nothing that is told becomes a tag, and there is no script', () => {
  expect(page).not.toMatch(/<script|\son\w+=|javascript:/i)
  expect(page).toContain('&#60;script&#62;')
})

test('the policy lets in the one style of the page and nothing else', () => {
  const styles = [...page.matchAll(/<style>(.*?)<\/style>/gs)].map(([, style]) => style ?? '')
  expect(styles).toHaveLength(1)
  expect(policy).toContain(
    `style-src 'sha256-${createHash('sha256')
      .update(styles[0] ?? '')
      .digest('base64')}'`,
  )
  expect(policy).toContain("default-src 'none'")
  expect(page).not.toMatch(/\sstyle=|<link|<img|https?:/)
})

test('every link leads to a place on the page or to the document', () => {
  const links = [...page.matchAll(/href="([^"]+)"/g)].map(([, link]) => link ?? '')
  const places = [...page.matchAll(/id="([^"]+)"/g)].map(([, place]) => `#${place}`)
  expect(new Set(places).size).toBe(places.length)
  expect(links.toSorted()).toEqual([...places, 'openapi.json'].toSorted())
})

test('fields are listed by their dotted names, also inside lists and what may be null', () => {
  const names = [...page.matchAll(/<tr><td><code>([^<]+)<\/code>/g)].map(([, name]) => name)
  expect(names).toEqual(expect.arrayContaining(['id', 'kind', 'card', 'card.month', 'tags', 'tags.word']))
  expect(page).toContain('<code>kind</code> <i>required</i>')
  expect(page).toContain('list of object')
})

test('an answer without a body, a refusal and the need for credentials are told', () => {
  expect(page).toContain('<h4>Answer 204</h4><p class="quiet">No body.</p>')
  expect(page).toContain('<td>410<td><code>gone</code>')
  expect(page).toContain('Needs no credentials.')
})

test('every way to say who one is is told', () => {
  expect(page).toContain('Needs a key, or token.')
})
