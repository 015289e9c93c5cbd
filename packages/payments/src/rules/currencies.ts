/** Currencies by how many decimals their minor unit has. ISK has two here, whatever ISO 4217 and acquirers say of it. */
const published: Readonly<Record<number, string>> = {
  0: 'BIF BYR CLP DJF GNF JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF',
  2:
    'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BZD CAD CDF CHF CNY COP ' +
    'CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IRR ISK JMD ' +
    'KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MRO MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR ' +
    'NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD STN STD SYP SZL THB TJS TMT TOP TRY ' +
    'TTD TWD TZS UAH USD UYU UZS VEF VES WST XCD YER ZAR ZMK ZWL',
  3: 'BHD IQD JOD KWD OMR TND',
}

const exponents: ReadonlyMap<string, number> = new Map(
  Object.entries(published).flatMap(([exponent, codes]) => codes.split(' ').map((code) => [code, Number(exponent)] as const)),
)

const deprecated: ReadonlySet<string> = new Set(['HRK', 'MRO', 'SLL', 'STD', 'VES'])

/** What merchants can be paid in. */
export const fundingCurrencies: readonly string[] = 'EUR USD GBP DKK NOK SEK CHF HUF PLN RON CZK BGN'.split(' ')

/** How many decimals the minor unit has; undefined for what is not a currency here. */
export function exponentOf(code: string): number | undefined {
  return exponents.get(code)
}

/** Whether a new payment may be in it. */
export function isChargeable(code: string): boolean {
  return exponents.has(code) && !deprecated.has(code)
}
