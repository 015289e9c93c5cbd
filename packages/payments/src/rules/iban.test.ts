import { expect, test } from 'vitest'
import { parseIban } from './iban.ts'

test.each([
  ['DK5000400440116243', 'DK5000400440116243'],
  ['DK50 0040 0440 1162 43', 'DK5000400440116243'],
  [' dk50-0040-0440-1162-43 ', 'DK5000400440116243'],
  ['NL91ABNA0417164300', 'NL91ABNA0417164300'],
  ['nl91 abna 0417 1643 00', 'NL91ABNA0417164300'],
  ['MT84MALT011000012345MTLCAST001S', 'MT84MALT011000012345MTLCAST001S'],
  ['FO6264600001631634', 'FO6264600001631634'],
])('%s is an account number', (text, iban) => {
  expect(parseIban(text)).toBe(iban)
})

test.each([
  ['check digits that do not fit', 'DK5100400440116243'],
  ['two digits that changed places', 'DK5000400440116234'],
  ['one digit too few', 'DK500040044011624'],
  ['one digit too many', 'DK50004004401162430'],
  ['a country without such numbers', 'US5000400440116243'],
  ['a country that is none', 'XX5000400440116243'],
  ['letters where the country has digits', 'DK50ABCD0440116243'],
  ['letters for check digits', 'DKAA00400440116243'],
  ['a full stop in between', 'DK50.0040.0440.1162.43'],
  ['a line break in between', 'DK500040\n0440116243'],
  ['digits of another script', 'DK٥٠٠٠٤٠٠٤٤٠١١٦٢٤٣'],
  ['a letter that only becomes two in capitals', 'DKß000400440116243'],
  ['a name of every object', 'constructor'],
  ['two letters', 'DK'],
  ['blanks', '   '],
  ['nothing', ''],
])('%s make no account number', (_, text) => {
  expect(parseIban(text)).toBeUndefined()
})
