/** What a tester can make happen, by the words that say so; the first is what happens unless another is chosen. */
const simulations = {
  testApproved: () => ({}),
  testApprovedFrictionless: () => ({ tds: { challenge: false } }),
  testAttempted: () => ({ tds: { challenge: false, status: 'attempted' } }),
  testInsufficientFunds: (currency) => quickly({ card: { balance: nothingOf(currency) } }),
  testDeclined: () => quickly({ acquirer: { authorize: 'declined' } }),
  testAmountLimit: (currency) => quickly({ card: { limit: nothingOf(currency) } }),
  testCardExpired: () => quickly({ card: { status: 'expired' } }),
  testCardDisabled: () => quickly({ card: { status: 'disabled' } }),
  testCardLost: () => quickly({ card: { status: 'lost' } }),
  testCodeWrong: () => quickly({ card: { code: 'invalid' } }),
  testNumberInvalid: () => quickly({ card: { status: 'invalid' } }),
  testSchemeUnsupported: () => quickly({ card: { scheme: 'unsupported' } }),
  testAuthenticationRejected: () => ({ tds: { status: 'rejected' } }),
  testAuthenticationUnavailable: () => ({ tds: { status: 'unavailable' } }),
} as const satisfies Readonly<Record<string, (currency: string) => object>>

export type Outcome = keyof typeof simulations

export const outcomes = Object.keys(simulations) as Outcome[]

/** The `test` object of an order that ends like that. */
export function simulationOf(outcome: string, currency: string): object {
  return Object.hasOwn(simulations, outcome) ? simulations[outcome as Outcome](currency) : {}
}

/** What is declined in the end need not be confirmed by a person before. */
function quickly(simulation: object): object {
  return { ...simulation, tds: { challenge: false } }
}

function nothingOf(currency: string): object {
  return { currency, exponent: 0, value: 0 }
}
