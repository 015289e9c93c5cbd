import { Html } from '@tollgate/kit/html'

/** Drawn here, so that the shop asks nobody for anything. */
export function pictureOf(id: string): Html {
  const drawing = drawings[id] ?? ''
  return new Html(`<svg viewBox="0 0 240 180" aria-hidden="true" focusable="false">${drawing}</svg>`)
}

/** One leaf stalk of a fern: it bends as it grows, and its leaflets get smaller. */
function frond({ bend, length, fill }: { bend: number; length: number; fill: string }): string {
  const along = (part: number) => ({ x: bend * part ** 1.6, y: -length * part + Math.abs(bend) * 0.42 * part ** 3 })
  const leaflets = Array.from({ length: 9 }, (_, index) => 0.3 + index * 0.083).map((part) => {
    const [{ x, y }, next] = [along(part), along(part + 0.02)]
    const angle = (Math.atan2(next.y - y, next.x - x) * 180) / Math.PI
    const size = 15 * (1.08 - part)
    const leaf = (turn: number) =>
      `<ellipse cx="${size}" rx="${size.toFixed(1)}" ry="${(size * 0.3).toFixed(1)}" transform="translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${(angle + turn).toFixed(0)})"/>`
    return leaf(58) + leaf(-58)
  })
  const tip = along(1)
  const stem = `<path d="M0 0Q${(bend * 0.2).toFixed(1)} ${(-length * 0.62).toFixed(1)} ${tip.x.toFixed(1)} ${tip.y.toFixed(1)}" fill="none" stroke="${fill}" stroke-width="2"/>`
  return `<g transform="translate(120 118)" fill="${fill}">${stem}${leaflets.join('')}</g>`
}

const fronds = [
  { bend: -84, length: 66, fill: '#477355' },
  { bend: 84, length: 66, fill: '#477355' },
  { bend: -52, length: 94, fill: '#5c916d' },
  { bend: 52, length: 94, fill: '#5c916d' },
  { bend: 5, length: 106, fill: '#7db48d' },
]

const flame = (x: number, y: number) =>
  `<path d="M${x} ${y}c7-9 3-16 0-22-3 6-7 13 0 22z" fill="#f2b84b"/><path d="M${x} ${y - 1}c3-4 2-8 0-11-2 3-3 7 0 11z" fill="#fff2c9"/><path d="M${x} ${y - 2}v7" stroke="#5a4632" stroke-width="2"/>`

const candle = (x: number, y: number, height: number) =>
  `<rect x="${x - 15}" y="${y}" width="30" height="${height}" rx="4" fill="#e3b65c"/><rect x="${x - 15}" y="${y}" width="9" height="${height}" rx="4" fill="#efcb82"/><ellipse cx="${x}" cy="${y + 2}" rx="15" ry="4" fill="#f4d894"/>${flame(x, y)}`

const drawings: Record<string, string> = {
  fern: `${fronds.map(frond).join('')}<path d="M88 112h64l-9 52q-1 6-7 6h-32q-6 0-7-6z" fill="#c4704a"/><path d="M84 104h72v14H84z" fill="#d98a63"/><path d="M88 118h64l-1 6H89z" fill="#a85a38" opacity=".5"/>`,
  tablecloth: `<path d="M70 84l-8 84M170 84l8 84" stroke="#8a6a4a" stroke-width="7" stroke-linecap="round"/><path d="M38 66q82-16 164 0l10 62q-10 9-20 0-10 9-21 0-10 9-20 0-10 9-21 0-10 9-20 0-10 9-21 0-10 9-21 0-10 9-20 0-10 9-21 0z" fill="#7f9aa6"/><path d="M38 66q82-16 164 0l1 6q-83-14-166 0z" fill="#9fb6c0"/><path d="M58 71l-8 57M84 66l-5 64M120 63v67M156 66l5 64M182 71l8 57" stroke="#dfe8ea" stroke-width="4" fill="none"/><path d="M30 112q90-14 180 0" stroke="#dfe8ea" stroke-width="4" fill="none"/>`,
  candles: `<ellipse cx="120" cy="160" rx="86" ry="11" fill="#8a6a4a"/><ellipse cx="120" cy="156" rx="86" ry="11" fill="#a98660"/>${candle(74, 88, 68)}${candle(120, 60, 98)}${candle(166, 102, 54)}`,
  blanket: `<g><rect x="42" y="120" width="156" height="38" rx="15" fill="#7d8fa3"/><rect x="42" y="86" width="156" height="38" rx="15" fill="#93a5b8"/><rect x="42" y="52" width="156" height="38" rx="15" fill="#a9bacb"/><path d="M70 52v38M84 52v38M156 52v38M170 52v38" stroke="#fbf8f1" stroke-width="6"/><path d="M70 86v38M84 86v38M156 86v38M170 86v38" stroke="#dfe3e4" stroke-width="6"/><path d="M70 120v38M84 120v38M156 120v38M170 120v38" stroke="#c9d0d5" stroke-width="6"/><path d="M198 60v92" stroke="#6a7b8e" stroke-width="2" stroke-dasharray="3 4"/></g>`,
  mug: `<path d="M162 84q40-4 38 26-2 30-44 26" fill="none" stroke="#5b7a8c" stroke-width="12"/><path d="M70 66h98v72q0 26-26 26H96q-26 0-26-26z" fill="#6f91a4"/><path d="M70 66h22v98q-22-3-22-26z" fill="#86a6b7"/><path d="M70 112q25 12 49 0t49 0v26q0 26-26 26H96q-26 0-26-26z" fill="#d8b98f"/><ellipse cx="119" cy="66" rx="49" ry="10" fill="#3f2d22"/><path d="M100 48q-8-10 0-18t0-18M132 48q-8-10 0-18t0-18" stroke="#b7b2a6" stroke-width="4" fill="none" stroke-linecap="round" opacity=".7"/>`,
  board: `<g transform="rotate(-12 120 96)"><path d="M52 66h120q10 0 14 8 4 6 12 6h18q14 0 14 14t-14 14h-18q-8 0-12 6-4 8-14 8H52q-16 0-16-16V82q0-16 16-16z" fill="#b98955"/><path d="M36 84q0-18 16-18h120q10 0 14 8H58q-16 0-16 16v26q-6-4-6-14z" fill="#cfa06c"/><circle cx="215" cy="94" r="5" fill="#6d4c2b"/><path d="M56 82q60-8 116 2M54 96q70 8 124-1M58 110q56-9 112 2" fill="none" stroke="#96693b" stroke-width="2"/></g>`,
  monthly: `<g transform="translate(-44 12) scale(.86)">${fronds.map(frond).join('')}</g><rect x="30" y="98" width="112" height="70" rx="5" fill="#c9a376"/><path d="M30 98h112v16H30z" fill="#b58d5e"/><path d="M78 98h16v70H78z" fill="#e6d3b5"/><g transform="translate(156 58)"><rect width="64" height="62" rx="8" fill="#f4eee2"/><path d="M0 8q0-8 8-8h48q8 0 8 8v10H0z" fill="#c4704a"/><path d="M16-6v12M48-6v12" stroke="#7b4227" stroke-width="5" stroke-linecap="round"/><circle cx="32" cy="40" r="11" fill="#5f9470"/></g>`,
}
