import jsQr from 'jsqr'

/** What the camera of a phone makes of a picture that rules/qr.ts has drawn: for tests, which nothing else can convince. */
export function scanPicture(picture: string): string | undefined {
  const size = Number(/viewBox="0 0 (\d+) \1"/.exec(picture)?.[1])
  const drawn = /fill="#000" d="([^"]+)"/.exec(picture)?.[1] ?? ''
  const black = new Set<string>()
  for (const [, x, y, width] of drawn.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g))
    for (let step = 0; step < Number(width); step++) black.add(`${Number(x) + step} ${y}`)
  return scan(size, (x, y) => black.has(`${x} ${y}`))
}

/** The same of half blocks, in which what is drawn is light. */
export function scanLetters(letters: string): string | undefined {
  const lines = letters.split('\n')
  const size = lines[0]?.length ?? 0
  return scan(size, (x, y) => {
    const letter = lines[Math.floor(y / 2)]?.[x]
    return letter === ' ' || letter === (y % 2 === 0 ? '▄' : '▀')
  })
}

const pixelsPerModule = 3

function scan(size: number, isBlack: (x: number, y: number) => boolean): string | undefined {
  const side = size * pixelsPerModule
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255)
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++) {
      const at = (y * side + x) * 4
      if (isBlack(Math.floor(x / pixelsPerModule), Math.floor(y / pixelsPerModule))) pixels.fill(0, at, at + 3)
    }
  return jsQr.default(pixels, side, side, { inversionAttempts: 'dontInvert' })?.data
}
