const unitInSeconds: Record<string, number> = { ns: 1e-9, us: 1e-6, µs: 1e-6, μs: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 }

const part = /(\d{1,12}(?:\.\d{0,9})?|\.\d{1,9})(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/

/** Seconds in a plain number of seconds (`900`) or in a duration such as `1h30m`; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  if (/^\d{1,12}(\.\d{1,9})?$/.test(text)) return Number(text)
  if (!new RegExp(`^(${part.source})+$`).test(text)) return undefined
  let seconds = 0
  for (const [, amount, unit = ''] of text.matchAll(new RegExp(part, 'g'))) seconds += Number(amount) * (unitInSeconds[unit] ?? 0)
  return seconds
}
