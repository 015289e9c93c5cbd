import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseAccent, textOn } from './accent.ts'

test.each([
  ['#0b6e4f', '#0b6e4f'],
  [' #0B6E4F ', '#0b6e4f'],
  ['#fff', undefined],
  ['0b6e4f', undefined],
  ['#0b6e4f00', undefined],
  ['#0b6e4g', undefined],
  ['#0b6e4f;}', undefined],
  ['red', undefined],
  ['', undefined],
])('%j is %s', (text, color) => {
  expect(parseAccent(text)).toBe(color)
})

test.each([
  ['#000000', '#ffffff'],
  ['#0b6e4f', '#ffffff'],
  // 4.54 to 1 and 4.48 to 1: the last grey that white can be read on, and the first that it cannot.
  ['#767676', '#ffffff'],
  ['#777777', '#000000'],
  ['#ffcc00', '#000000'],
  ['#ffffff', '#000000'],
])('on %s one writes in %s', (color, text) => {
  expect(textOn(color)).toBe(text)
})

test('what is written can be read on every colour', () => {
  const luminance = (color: string) =>
    [1, 3, 5]
      .map((start) => Number.parseInt(color.slice(start, start + 2), 16) / 255)
      .map((channel) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4))
      .reduce((sum, channel, index) => sum + channel * ([0.2126, 0.7152, 0.0722][index] as number), 0)
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffffff }), (number) => {
      const color = `#${number.toString(16).padStart(6, '0')}`
      const [dark, light] = [luminance(color), luminance(textOn(color))].toSorted((one, other) => one - other) as [number, number]
      expect((light + 0.05) / (dark + 0.05)).toBeGreaterThanOrEqual(4.5)
    }),
    { numRuns: 1000 },
  )
})
