import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Element, oid, readDer } from './der.ts'
import { der, openDer } from './der-fake.ts'
import { readSignedData } from './signed-data.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

/** The tags, as a tree. */
const shapeOf = ({ tag, children }: Element): unknown => (children.length > 0 ? [tag, ...children.map(shapeOf)] : tag)

test('an element is read with all that is in it, its length written down or left open', () => {
  const known = readDer(hex('30 08 02 01 07 31 03 04 01 ff'))
  const open = readDer(hex('30 80 02 01 07 31 80 04 01 ff 00 00 00 00'))
  expect(known && shapeOf(known)).toEqual([0x30, 0x02, [0x31, 0x04]])
  expect(open && shapeOf(open)).toEqual([0x30, 0x02, [0x31, 0x04]])
  expect(open?.children[1]?.content).toEqual(hex('04 01 ff'))
  expect(open?.children[1]?.whole).toEqual(hex('31 80 04 01 ff 00 00'))
})

test.each([
  ['nothing', ''],
  ['a tag alone', '30'],
  ['more than its length', '04 01 ff ff'],
  ['less than its length', '04 02 ff'],
  ['a length that could be shorter', '04 81 01 ff'],
  ['a length that could be shorter by a byte', '04 82 00 80'],
  ['a length whose bytes are missing', '04 82 01'],
  ['a length of gigabytes', '04 84 ff ff ff ff'],
  ['a length of an unheard-of length', '04 ff 00'],
  ['an open length of what is not constructed', '04 80 ff 00 00'],
  ['an open length that never ends', '30 80 02 01 07'],
  ['an open length that ends by half', '30 80 02 01 07 00'],
  ['an open length that ends with something else', '30 80 02 01 07 00 01 00'],
  ['an end of what was not open', '30 02 00 00'],
  ['a tag of several bytes', '3f 81 01 00'],
  ['a child that is longer than its parent', '30 03 04 02 ff'],
])('%s is refused', (_, text) => {
  expect(readDer(hex(text))).toBeUndefined()
})

test('what is too deep or too large is refused, and what is just within the limits is not', () => {
  const nested = (depth: number): Buffer => (depth === 0 ? hex('05 00') : der(0x30, nested(depth - 1)))
  expect(readDer(nested(23))).toBeDefined()
  expect(readDer(nested(24))).toBeUndefined()
  expect(readDer(Buffer.alloc(16_000, '3080', 'hex'))).toBeUndefined()
  expect(readDer(der(0x04, Buffer.alloc(16_380)))).toBeDefined()
  expect(readDer(der(0x04, Buffer.alloc(16_381)))).toBeUndefined()
})

test.each([
  ['1.2.840.113635.100.6.29', '2a 86 48 86 f7 63 64 06 1d'],
  ['1.2.840.113549.1.7.2', '2a 86 48 86 f7 0d 01 07 02'],
  ['2.16.840.1.101.3.4.2.1', '60 86 48 01 65 03 04 02 01'],
])('%s is written as %s', (dotted, bytes) => {
  expect(oid(dotted)).toEqual(hex(bytes))
})

type Tree = { tag: number; open: boolean; children: Tree[] } | { tag: number; content: Uint8Array }

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6 },
    fc.record({ tag: fc.constantFrom(0x02, 0x04, 0x0c, 0x17, 0x80), content: fc.uint8Array({ maxLength: 300 }) }),
    fc.record({
      tag: fc.constantFrom(0x30, 0x31, 0xa0, 0xa3),
      open: fc.boolean(),
      children: fc.array(tie('tree'), { maxLength: 4 }),
    }),
  ),
}))

function write(each: Tree): Buffer {
  if ('content' in each) return der(each.tag, Buffer.from(each.content))
  return (each.open ? openDer : der)(each.tag, ...each.children.map(write))
}

const tagsOf = (each: Tree): unknown =>
  'content' in each || each.children.length === 0 ? each.tag : [each.tag, ...each.children.map(tagsOf)]

test('whatever is written is read as it was meant', () => {
  fc.assert(
    fc.property(tree, (given) => {
      const bytes = write(given)
      fc.pre(bytes.length <= 16_384)
      const read = readDer(bytes)
      expect(read && shapeOf(read)).toEqual(tagsOf(given))
      expect(read?.whole).toEqual(bytes)
    }),
    { numRuns: 500 },
  )
})

test('no bytes make the readers throw', () => {
  const anything = fc.oneof(
    fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
    fc.tuple(tree, fc.nat(), fc.nat(255)).map(([given, place, value]) => {
      const bytes = write(given)
      bytes[place % bytes.length] = value
      return bytes
    }),
    fc.tuple(tree, fc.nat()).map(([given, end]) => {
      const bytes = write(given)
      return bytes.subarray(0, end % bytes.length)
    }),
  )
  fc.assert(
    fc.property(anything, (bytes) => {
      const read = readDer(bytes)
      if (read) expect(read.whole.length).toBe(bytes.length)
      expect(readSignedData(bytes)).toBeUndefined()
    }),
    { numRuns: 3000 },
  )
})
