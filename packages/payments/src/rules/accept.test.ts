import { expect, test } from 'vitest'
import { admitsJson } from './accept.ts'

test.each<[string | undefined, boolean]>([
  [undefined, false],
  ['', false],
  ['*/*', true],
  ['application/json', true],
  ['APPLICATION/JSON; charset=utf-8', true],
  ['application/*', true],
  ['application/vnd.api+json', false],
  ['application/vnd.api+json; charset=utf-8', false],
  ['application/problem+json', false],
  ['text/html', false],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', true],
  ['application/json, text/plain, */*', true],
  ['text/plain , application/json ; q=0.5', true],
  ['application/json;q=0', false],
  ['application/json;Q=0.000', false],
  ['application/json;q=0.001', true],
  ['application/json; q=nonsense', true],
  ['*/*;q=0', false],
  ['application/json;q=0, */*', false],
  ['application/json, */*;q=0', true],
  ['application/*;q=0, */*', false],
  [',;,=', false],
])('Accept: %s admits JSON: %s', (accept, admitted) => {
  expect(admitsJson(accept)).toBe(admitted)
})
