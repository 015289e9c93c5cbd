/** A colour as `#rrggbb` in small letters; undefined for what is none. */
export function parseAccent(text: string): string | undefined {
  const color = text.trim().toLowerCase()
  return /^#[0-9a-f]{6}$/.test(color) ? color : undefined
}

/** https://www.w3.org/TR/WCAG22/#contrast-minimum */
const readable = 4.5

/**
 * Whether white or black is written on a colour. White where it can be read, for it looks better; otherwise black, which can be read
 * wherever white cannot: of any colour, one of the two is at least 4.58 apart.
 */
export function textOn(color: string): '#ffffff' | '#000000' {
  return 1.05 / (luminanceOf(color) + 0.05) >= readable ? '#ffffff' : '#000000'
}

/** https://www.w3.org/TR/WCAG22/#dfn-relative-luminance */
function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const channel = Number.parseInt(color.slice(start, start + 2), 16) / 255
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
