/** Bars of one workload: as many as the chart has series; undefined where a figure is not known. */
export type ChartRow = { label: string; values: readonly (number | undefined)[] }

export type Chart = {
  title: string
  /** What somebody is told who cannot see it. */
  description: string
  unit: string
  series: readonly string[]
  /**
   * One below the other on a logarithmic axis, because a password grant and a health check are worlds apart; or parts of a whole, laid
   * end to end, with the whole told beside them.
   */
  layout: 'logarithmic' | 'shares'
  rows: readonly ChartRow[]
  digits: number
}

const width = 900
const left = 330
const right = 120
const barHeight = 14
const rowGap = 10
const top = 76

/** Readable on white and on black, and apart from each other for the colour-blind. */
const colours = [
  { light: '#2b5fd9', dark: '#7aa2ff' },
  { light: '#c2570c', dark: '#ffa657' },
  { light: '#1a7f5a', dark: '#56d4a4' },
] as const

/** A chart of horizontal bars as a file of its own, in the colours that the reader's system asks for. */
export function drawChart(chart: Chart): string {
  const { title, description, series, layout, rows } = chart
  const lanes = layout === 'shares' ? 1 : series.length
  const rowHeight = lanes * barHeight + rowGap
  const bottom = top + rows.length * rowHeight
  const axis = layout === 'shares' ? shares : logarithmicAxis(rows)
  const drawRow = layout === 'shares' ? drawShares : drawLanes
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${bottom + 8}" viewBox="0 0 ${width} ${bottom + 8}" role="img" aria-labelledby="title description">
<title id="title">${escapeXml(title)}</title>
<desc id="description">${escapeXml(description)}</desc>
<style>
${styles(series.length)}
</style>
<rect class="ground" width="${width}" height="${bottom + 8}"/>
<text class="heading" x="12" y="24">${escapeXml(title)}</text>
${series.map(drawKey).join('\n')}
${axis.ticks.map((tick) => drawTick(axis, tick, bottom)).join('\n')}
${rows.map((row, index) => drawRow(chart, row, { y: top + index * rowHeight, axis })).join('\n')}
</svg>
`
}

type Tick = { at: number; text: string }
type Axis = { ticks: readonly Tick[]; lengthOf(value: number): number }

const shares: Axis = {
  ticks: [0, 0.25, 0.5, 0.75, 1].map((at) => ({ at, text: `${at * 100} %` })),
  lengthOf: (share) => share * (width - left - right),
}

/** From the power of ten below the smallest to the one above the largest; what is nothing has no length. */
function logarithmicAxis(rows: readonly ChartRow[]): Axis {
  const positive = rows.flatMap(({ values }) => values.filter((value) => value !== undefined && value > 0)) as number[]
  const low = Math.floor(Math.log10(Math.min(...positive, Number.MAX_VALUE)))
  const high = Math.ceil(Math.log10(Math.max(...positive, Number.MIN_VALUE)))
  if (positive.length === 0) return { ticks: [], lengthOf: () => 0 }
  const [from, to] = [low, Math.max(high, low + 1)]
  return {
    ticks: Array.from({ length: to - from + 1 }, (_, index) => {
      const at = 10 ** (from + index)
      return { at, text: String(Number(at.toPrecision(1))) }
    }),
    lengthOf: (value) => (value <= 0 ? 0 : ((Math.log10(value) - from) / (to - from)) * (width - left - right)),
  }
}

function styles(count: number): string {
  const paint = (shade: 'light' | 'dark') => colours.slice(0, count).map((colour, index) => `.s${index}{fill:${colour[shade]}}`)
  return [
    'text{font:12px system-ui,sans-serif;fill:#1f2328}.heading{font-weight:600;font-size:15px}.end{text-anchor:end}.mid{text-anchor:middle}',
    `.ground{fill:#fff}.tick{stroke:#d0d7de}${paint('light').join('')}`,
    `@media (prefers-color-scheme:dark){text{fill:#e6edf3}.ground{fill:#0d1117}.tick{stroke:#30363d}${paint('dark').join('')}}`,
  ].join('\n')
}

function drawKey(name: string, index: number): string {
  const x = left + index * 130
  return `<rect class="s${index}" x="${x}" y="36" width="10" height="10"/><text x="${x + 15}" y="45">${escapeXml(name)}</text>`
}

function drawTick({ lengthOf }: Axis, { at, text }: Tick, bottom: number): string {
  const x = round(left + lengthOf(at))
  return `<line class="tick" x1="${x}" x2="${x}" y1="${top - 8}" y2="${bottom}"/><text class="mid" x="${x}" y="${top - 13}">${escapeXml(text)}</text>`
}

type Place = { y: number; axis: Axis }

function drawLanes({ unit, series, digits }: Chart, { label, values }: ChartRow, { y, axis }: Place): string {
  const lanes = values.map((value, index) => {
    const lane = { x: left, y: y + index * barHeight, length: axis.lengthOf(value ?? 0) }
    const figure = value === undefined ? 'unknown' : `${value.toFixed(digits)} ${unit}`
    return drawBar(index, lane, `${label}, ${series[index]}: ${figure}`) + drawFigure(left + lane.length, lane.y, figure)
  })
  return drawLabel(label, y + (values.length * barHeight) / 2) + lanes.join('')
}

function drawShares({ unit, series, digits }: Chart, { label, values }: ChartRow, { y, axis }: Place): string {
  const name = drawLabel(label, y + barHeight / 2)
  const known = values.filter((value) => value !== undefined)
  const whole = known.reduce((sum, value) => sum + value, 0)
  if (known.length < values.length || whole === 0) return name + drawFigure(left, y, 'unknown')
  let x = left
  const parts = known.map((value, index) => {
    const bar = { x, y, length: axis.lengthOf(value / whole) }
    x += bar.length
    return drawBar(index, bar, `${label}, ${series[index]}: ${value.toFixed(digits)} ${unit}`)
  })
  return `${name}${parts.join('')}${drawFigure(x, y, `${whole.toFixed(digits)} ${unit}`)}`
}

function drawLabel(label: string, middle: number): string {
  return `<text class="end" x="${left - 10}" y="${round(middle + 3)}">${escapeXml(label)}</text>`
}

function drawBar(index: number, { x, y, length }: { x: number; y: number; length: number }, about: string): string {
  return `<rect class="s${index}" x="${round(x)}" y="${y}" width="${round(length)}" height="${barHeight - 2}"><title>${escapeXml(about)}</title></rect>`
}

function drawFigure(x: number, y: number, text: string): string {
  return `<text x="${round(x + 5)}" y="${y + barHeight - 4}">${escapeXml(text)}</text>`
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

/** What XML cannot hold at all is left out. */
export function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
