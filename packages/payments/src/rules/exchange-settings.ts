import type { Read } from '@tollgate/kit/env'

export type ExchangeSettings = ReturnType<typeof exchangeSettings>

/** What foreign currencies are exchanged with upon capture. */
export function exchangeSettings(read: Read) {
  return read.group('Exchange', () => ({
    rates: read.parsed(
      'file or address',
      'EXCHANGE_RATES',
      undefined,
      'Where exchange rates are, in the format of the European Central Bank: a file or an address. Not set: an old set, for development',
      parseSource,
      { example: 'https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml' },
    ),
    interval: read.seconds('EXCHANGE_INTERVAL', 3600, 'How often they are looked for', { min: 60, max: 86_400 }),
    maxAge: read.whole(
      'EXCHANGE_MAX_AGE',
      7,
      'How many days old a rate may be that a capture is exchanged with; 0 for no limit',
      { max: 36_500 },
    ),
  }))
}

function parseSource(text: string): string | { expected: string } {
  if (!/^\w{2,}:\/\//.test(text)) return text
  const url = URL.parse(text)
  const usable = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  return usable ? text : { expected: 'a file or an http or https address without a password in it' }
}
