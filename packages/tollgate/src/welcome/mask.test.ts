import { expect, test } from 'vitest'
import { mask } from './mask.ts'

const dots = '••••••••••••••••'

test.each([
  ['JWT secret', 'b2f0c9d8', dots],
  ['service_role key', 'eyJhbGciOi', dots],
  ['payments app key', '1c2d3e4f', dots],
  ['Operator password', 'correct horse', dots],
  ['API key', 'app:not-an-address', dots],
  ['anon key', 'eyJhbGciOi', undefined],
  ['Publishable key', 'pk_1', undefined],
  ['Project', 'demo', undefined],
  ['database', 'postgres://ada:s3cret@127.0.0.1:5432/tollgate', 'postgres://ada:••••••@127.0.0.1:5432/tollgate'],
  ['database', 'postgres://ada:s3c%2Fret/#@@localhost/tollgate', 'postgres://ada:••••••@localhost/tollgate'],
  ['database', 'postgres://ada:@127.0.0.1:5432/tollgate', undefined],
  ['database', 'postgres://ada@127.0.0.1:5432/tollgate', undefined],
])('%s %s is shown as %s', (name, value, shown) => {
  expect(mask(name, value)).toBe(shown)
})
