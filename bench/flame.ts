import { escapeXml } from './charts.ts'
import type { Frame, FunctionTime } from './cpu-profile.ts'

const width = 1200
const margin = 10
const frameHeight = 17
const top = 64
/** Narrower than that nobody sees them. */
const narrowest = 0.3
const characterWidth = 6.6

/** Whose code it is, by where it stands. Readable on white and on black. */
const owners = [
  { name: 'Tollgate', of: /^(packages|bench|dist)\//, colour: '#e8834d' },
  { name: 'packages', of: /^node_modules\//, colour: '#d9b64a' },
  { name: 'Node', of: /^node:/, colour: '#7fb069' },
  { name: 'V8 and native', of: /^/, colour: '#8fa3bf' },
] as const

/** Everything that happened from left to right, callers below callees, each as wide as it took long. A file of its own. */
export function drawFlame(everything: Frame, title: string): string {
  const depth = depthOf(everything)
  const height = top + depth * frameHeight + margin
  const scale = (width - 2 * margin) / Math.max(1, everything.total)
  const boxes: string[] = []
  const draw = (frame: Frame, x: number, level: number) => {
    const length = frame.total * scale
    if (length < narrowest) return
    boxes.push(drawFrame(frame, { x, y: height - margin - (level + 1) * frameHeight, length }, everything.total))
    let left = x
    // The order of calls says nothing, so that the same functions stand in the same place in every graph.
    for (const callee of frame.callees.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      draw(callee, left, level + 1)
      left += callee.total * scale
    }
  }
  draw(everything, margin, 0)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description">
<title id="title">${escapeXml(title)}</title>
<desc id="description">${escapeXml(`A flame graph of ${(everything.total / 1000).toFixed(0)} ms of processor time. Point at a frame to read its name, its place and its share.`)}</desc>
<style>
text{font:11px ui-monospace,monospace;fill:#1f2328}.heading{font:600 15px system-ui,sans-serif}.ground{fill:#fff}.frame{stroke:#fff;stroke-width:.5}
@media (prefers-color-scheme:dark){.out{fill:#e6edf3}.ground{fill:#0d1117}.frame{stroke:#0d1117}}
</style>
<rect class="ground" width="${width}" height="${height}"/>
<text class="heading out" x="${margin}" y="24">${escapeXml(title)}</text>
${owners.map(({ name, colour }, index) => `<rect x="${margin + index * 130}" y="36" width="10" height="10" fill="${colour}"/><text class="out" x="${margin + index * 130 + 15}" y="45">${escapeXml(name)}</text>`).join('\n')}
${boxes.join('\n')}
</svg>
`
}

type Box = { x: number; y: number; length: number }

function drawFrame(frame: Frame, { x, y, length }: Box, whole: number): string {
  const { name, place, self, total } = frame
  const colour = owners.find(({ of }) => of.test(place))?.colour
  const about = `${name}${place === '' ? '' : ` ${place}`}: ${share(total, whole)} in all, ${share(self, whole)} by itself`
  const room = Math.floor((length - 4) / characterWidth)
  const label = room < 3 ? '' : `<text x="${round(x + 2)}" y="${y + 12}">${escapeXml(cut(name, room))}</text>`
  return `<g><title>${escapeXml(about)}</title><rect class="frame" x="${round(x)}" y="${y}" width="${round(length)}" height="${frameHeight}" fill="${colour}"/>${label}</g>`
}

function cut(name: string, room: number): string {
  return name.length <= room ? name : `${name.slice(0, room - 1)}…`
}

function depthOf({ callees }: Frame): number {
  return 1 + Math.max(0, ...callees.map(depthOf))
}

function share(part: number, whole: number): string {
  return `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

/** The functions with their shares of all the time, one a line. */
export function writeTop(functions: readonly FunctionTime[], whole: number): string {
  const heading = `${'self'.padStart(8)}  ${'all'.padStart(8)}  function`
  const lines = functions.map(({ name, place, self, total }) => {
    const where = place === '' ? '' : `  ${place}`
    return `${share(self, whole).padStart(8)}  ${share(total, whole).padStart(8)}  ${name}${where}`
  })
  return [heading, ...lines].join('\n')
}
