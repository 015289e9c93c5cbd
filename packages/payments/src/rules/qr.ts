import { encode, renderUnicodeCompact } from 'uqr'

/** What a code can hold at most that survives the loss of 15 % of it. */
export const longestInQr = 2331

/** A code that is read from paper needs to lose a corner, and readers need four modules of white around it. */
const manner = { ecc: 'M', border: 4 } as const

/** A QR code as an SVG picture, with words for those who cannot see it. */
export function qrPicture(text: string, label: string): string {
  const { data, size } = encode(text, manner)
  const name = escaped(label)
  // In whole pixels a module, so that edges stay sharp wherever nobody says how large it is to be.
  const side = size * 8
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" width="${side}" height="${side}" role="img" ` +
    `aria-label="${name}" shape-rendering="crispEdges"><title>${name}</title>` +
    `<path fill="#fff" d="M0 0h${size}v${size}h-${size}z"/><path fill="#000" d="${data.map(rowOfPath).join('')}"/></svg>`
  )
}

/** One rectangle for all black modules that stand side by side. */
function rowOfPath(row: readonly boolean[], y: number): string {
  let path = ''
  for (let x = 0; x < row.length; x++) {
    const from = x
    while (row[x]) x++
    if (x > from) path += `M${from} ${y}h${x - from}v1h-${x - from}z`
  }
  return path
}

/** A QR code in half blocks, the light ones drawn: for letters of light on dark. */
export function qrLetters(text: string): string {
  return renderUnicodeCompact(text, manner)
}

function escaped(text: string): string {
  // Control characters may not stand in it even when they are escaped.
  return text.replaceAll(/[\p{Cc}\ufffe\uffff]/gu, '').replaceAll(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`)
}
