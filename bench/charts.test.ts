import { expect, test } from 'vitest'
import { type Chart, drawChart, escapeXml } from './charts.ts'

/** An element with its attributes and what is in it. */
type Element = { name: string; attributes: Record<string, string>; children: Element[]; text: string }

/** Reads XML without prologue, comments or CDATA, and throws where it is not well-formed. */
function readXml(source: string): Element {
  const root: Element = { name: '', attributes: {}, children: [], text: '' }
  const open = [root]
  const token = /<\/([\w:-]+)>|<([\w:-]+)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy
  let end = 0
  for (const [all, closes, opens, attributes = '', single, text] of source.matchAll(token)) {
    end += all.length
    const inside = open.at(-1) as Element
    if (closes !== undefined) {
      if (closes !== open.pop()?.name) throw new Error(`</${closes}> closes ${inside.name}`)
    } else if (opens !== undefined) {
      const pairs = [...attributes.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, unescaped(value)])
      if (new Set(pairs.map(([name]) => name)).size < pairs.length) throw new Error(`an attribute twice in ${all}`)
      const element = { name: opens, attributes: Object.fromEntries(pairs), children: [], text: '' }
      inside.children.push(element)
      if (single === '') open.push(element)
    } else inside.text += unescaped(text ?? '')
  }
  const [svg, ...more] = root.children
  if (end !== source.length || open.length !== 1 || !svg || more.length > 0) throw new Error(`not well-formed at ${end}`)
  return svg
}

function unescaped(text: string): string {
  if (/&(?!#\d+;)/.test(text)) throw new Error(`a bare & in ${text}`)
  return text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
}

function all(element: Element, name: string): Element[] {
  return element.children.flatMap((child) => [...(child.name === name ? [child] : []), ...all(child, name)])
}

const barsOf = (svg: Element) => all(svg, 'rect').filter(({ children }) => children.length > 0)
const lengthsOf = (svg: Element) => barsOf(svg).map(({ attributes }) => Number(attributes.width))
const tellsOf = (svg: Element) => barsOf(svg).map(({ children: [title] }) => title?.text)

const latency: Chart = {
  title: 'Latency',
  description: 'In milliseconds',
  unit: 'ms',
  series: ['p50', 'p99'],
  layout: 'logarithmic',
  digits: 1,
  rows: [
    { label: 'quick', values: [1, 10] },
    { label: 'slow', values: [100, undefined] },
    { label: 'nothing', values: [0, 10] },
  ],
}

test('a reader of XML that finds nothing wrong with everything would prove nothing', () => {
  for (const wrong of ['<a><b></a></b>', '<a>', '<a/><b/>', '<a>&</a>', '<a x="<"/>', '<a x=1/>', '<a x="1" x="2"/>', 'a<b/>c<'])
    expect(() => readXml(wrong), wrong).toThrow()
  expect(readXml('<a x="&#60;"><b/>&#38;</a>')).toMatchObject({ name: 'a', attributes: { x: '<' }, text: '&' })
})

test('a chart is well-formed and has a title and a description for those who cannot see it', () => {
  const svg = readXml(drawChart(latency))
  expect(svg.attributes).toMatchObject({ role: 'img', 'aria-labelledby': 'title description' })
  const [title, description] = svg.children
  expect([title?.name, title?.attributes.id, title?.text]).toEqual(['title', 'title', 'Latency'])
  expect([description?.name, description?.attributes.id, description?.text]).toEqual(['desc', 'description', 'In milliseconds'])
  const [style] = all(svg, 'style')
  expect(style?.text).toMatch(/@media \(prefers-color-scheme:dark\)\{.*\.s1\{fill:#/)
})

test('on a logarithmic axis a bar grows by the same length with every power of ten', () => {
  const svg = readXml(drawChart(latency))
  const [one = Number.NaN, ten = Number.NaN, hundred = Number.NaN, unknown, nothing, other] = lengthsOf(svg)
  expect(one).toBe(0)
  expect(ten).toBeGreaterThan(100)
  expect(hundred).toBeCloseTo(2 * ten, 1)
  expect([unknown, nothing, other]).toEqual([0, 0, ten])
  expect(tellsOf(svg)).toEqual([
    'quick, p50: 1.0 ms',
    'quick, p99: 10.0 ms',
    'slow, p50: 100.0 ms',
    'slow, p99: unknown',
    'nothing, p50: 0.0 ms',
    'nothing, p99: 10.0 ms',
  ])
  const ticks = all(svg, 'text').filter(({ attributes }) => attributes.class === 'mid')
  expect(ticks.map(({ text }) => text)).toEqual(['1', '10', '100'])
})

test('shares fill the same length whatever the whole is, and the whole is told', () => {
  const rows = [
    { label: 'even', values: [50, 50] },
    { label: 'large', values: [7_500, 2_500] },
    { label: 'half known', values: [1, undefined] },
  ]
  const svg = readXml(drawChart({ ...latency, layout: 'shares', unit: 'µs', digits: 0, rows }))
  const [a = 0, b = 0, c = 0, d = 0, ...more] = lengthsOf(svg)
  expect(more).toEqual([])
  expect(a).toBe(b)
  expect(c).toBeCloseTo(3 * d, 1)
  expect(a + b).toBeCloseTo(c + d, 1)
  const texts = all(svg, 'text').map(({ text }) => text)
  expect(texts).toEqual(expect.arrayContaining(['100 µs', '10000 µs', 'unknown']))
})

test('figures of which none is known make a chart all the same', () => {
  for (const layout of ['logarithmic', 'shares'] as const)
    for (const rows of [[], [{ label: 'x', values: [undefined, undefined] }], [{ label: 'x', values: [0, 0] }]])
      expect(readXml(drawChart({ ...latency, layout, rows })).name).toBe('svg')
})

test('texts stay texts', () => {
  const nasty = '</text><script>alert("1 & \'2\'")</script>\u0000\ud800😀'
  const svg = readXml(drawChart({ ...latency, title: nasty, description: nasty, rows: [{ label: nasty, values: [1, 2] }] }))
  expect(all(svg, 'script')).toEqual([])
  expect(svg.children[0]?.text).toBe('</text><script>alert("1 & \'2\'")</script>😀')
  expect(escapeXml('a<b>&"c\'')).toBe('a&#60;b&#62;&#38;&#34;c&#39;')
})
