import { expect, test } from 'vitest'
import { longestInQr, qrLetters, qrPicture } from './qr.ts'
import { scanLetters, scanPicture } from './qr-scanner.ts'

const address = 'https://pay.example.com/pos?key=6d0cd4c2-1111-4222-8333-444455556666&currency=EUR&value=12.50&text=Tea+%26+toast'

test.each([
  ['an address', address],
  ['one letter', 'a'],
  ['letters of all alphabets', 'https://pay.example.com/pos?text=Brød & smør, чай, ☕'],
  ['as much as fits', `https://pay.example.com/${'x'.repeat(longestInQr - 24)}`],
])('%s is read back from the picture, and from the letters', (_, text) => {
  expect(scanPicture(qrPicture(text, 'Pay'))).toBe(text)
  expect(scanLetters(qrLetters(text))).toBe(text)
})

test('a code that has lost a corner is still read', () => {
  const picture = qrPicture(address, 'Pay')
  const size = Number(/viewBox="0 0 (\d+)/.exec(picture)?.[1])
  // The corner without a mark of where it is, three modules in.
  const torn = picture.replaceAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g, (run, x, y) =>
    Number(y) >= size - 9 && Number(x) >= size - 14 && Number(x) < size - 9 ? '' : run,
  )
  expect(torn).not.toBe(picture)
  expect(scanPicture(torn)).toBe(address)
})

test('one letter more than fits is refused by the coder', () => {
  expect(() => qrPicture('x'.repeat(longestInQr + 1), 'Pay')).toThrow('Data too long')
})

test('there are four modules of white on every side', () => {
  const picture = qrPicture(address, 'Pay')
  const size = Number(/viewBox="0 0 (\d+)/.exec(picture)?.[1])
  const runs = [...picture.matchAll(/M(\d+) (\d+)h(\d+)v1/g)].map(([, x, y, width]) => [Number(x), Number(y), Number(width)])
  expect(Math.min(...runs.map(([x = 0]) => x))).toBe(4)
  expect(Math.min(...runs.map(([, y = 0]) => y))).toBe(4)
  expect(Math.max(...runs.map(([x = 0, , width = 0]) => x + width))).toBe(size - 4)
  expect(Math.max(...runs.map(([, y = 0]) => y))).toBe(size - 5)
})

test('the picture says in words what it is, whatever the words are', () => {
  const picture = qrPicture(address, 'Pay "Tea & <script>alert(1)</script>" \u0000now')
  const words = 'Pay &#34;Tea &#38; &#60;script&#62;alert(1)&#60;/script&#62;&#34; now'
  expect(picture).toContain(`<title>${words}</title>`)
  expect(picture).toContain(`role="img" aria-label="${words}"`)
  expect(picture).toContain('shape-rendering="crispEdges"')
})
