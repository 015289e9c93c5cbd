const unitInSeconds: Record<string, number> = { ns: 1e-9, us: 1e-6, µs: 1e-6, μs: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 }

/** What fits into 64 bits of nanoseconds, some 292 years, is as long as durations get. */
const longest = 2 ** 63 / 1e9

/** Seconds of a ban, which may lie in the past; `none` for the end of one; or what is wrong, as Go words it. */
export function parseBanDuration(text: string): number | 'none' | { message: string } {
  if (text === 'none') return 'none'
  const seconds = parseGoDuration(text)
  return typeof seconds === 'number' ? seconds : { message: `invalid format for ban duration: time: ${seconds.problem}` }
}

/** Unlike settings, which take a plain number for seconds, a duration here needs its unit. */
function parseGoDuration(text: string): number | { problem: string } {
  const quoted = JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
  const invalid = { problem: `invalid duration ${quoted}` }
  const unsigned = text.replace(/^[-+]/, '')
  if (unsigned === '0') return 0
  if (unsigned === '') return invalid
  const part = /(\d*)(?:\.(\d*))?([^.\d]*)/y
  let seconds = 0
  while (part.lastIndex < unsigned.length) {
    const [, whole = '', fraction = '', unit = ''] = part.exec(unsigned) ?? []
    if (whole === '' && fraction === '') return invalid
    if (unit === '') return { problem: `missing unit in duration ${quoted}` }
    const size = Object.hasOwn(unitInSeconds, unit) ? unitInSeconds[unit] : undefined
    if (size === undefined) return { problem: `unknown unit ${JSON.stringify(unit.slice(0, 100))} in duration ${quoted}` }
    seconds += Number(`${whole || '0'}.${fraction || '0'}`) * size
    if (seconds >= longest) return invalid
  }
  return text.startsWith('-') ? -seconds : seconds
}
