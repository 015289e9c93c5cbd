/** Where a merchant's company may be registered, as ISO 3166 codes. */
export const companyCountries: readonly string[] =
  'AT BE BG HR CY CZ DK EE FI FR DE GR HU IS IE IT LV LI LT LU MT NL NO PL PT RO SK SI ES SE GB CH SM MC GL GI FO'.split(' ')
