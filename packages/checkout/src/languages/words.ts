/**
 * Everything that a payer reads, in one language. `{amount}`, `{merchant}` and the like are put in; a text without them leaves them out on purpose.
 * Plain words, as a good shop assistant would say them; sentences end with a full stop, buttons and labels do not.
 */
export type Words = {
  /** Title of the page in the browser's tab. */
  title: string
  payTo: string
  amount: string
  /** Above the field in which the payer types how much to pay. */
  enterAmount: string
  amountHint: string
  continue: string
  changeAmount: string
  reference: string
  card: string
  cardNumber: string
  expiry: string
  /** Shown in the empty field: month and year. */
  expiryHint: string
  securityCode: string
  securityCodeHelp: string
  /** The button: "Pay {amount}". */
  pay: string
  /** The button where no amount is taken now. */
  saveCard: string
  saveCardExplained: string
  /** Below the button when the card may be charged again. */
  recurringExplained: string
  planExplained: string
  secure: string

  paying: string
  checkingCard: string
  waitingForBank: string
  doNotClose: string
  confirmWithBank: string
  confirmWithBankExplained: string
  cancel: string
  close: string

  paid: string
  paidExplained: string
  receiptAmount: string
  receiptMerchant: string
  receiptDate: string
  receiptCard: string
  receiptNumber: string
  print: string
  newPayment: string
  /** While the browser goes back to the shop. */
  returning: string
  returnNow: string
  alreadyPaid: string

  numberMissing: string
  numberIncomplete: string
  numberInvalid: string
  schemeUnsupported: string
  expiryMissing: string
  expiryInvalid: string
  expiryPast: string
  codeMissing: string
  codeInvalid: string
  amountMissing: string
  amountInvalid: string
  amountTooLarge: string
  fieldMissing: string

  /** When the payer closed what the bank wanted to know. */
  cancelled: string
  declined: string
  insufficientFunds: string
  amountLimit: string
  cardExpired: string
  cardDisabled: string
  cardLost: string
  codeWrong: string
  cardNumberRefused: string
  authenticationFailed: string
  authenticationUnavailable: string
  merchantUnavailable: string
  tookTooLong: string
  offline: string
  somethingWrong: string
  tryAgain: string
  /** "No money was taken." */
  notCharged: string
  /** When nobody knows yet whether the payment went through. */
  outcomeUnknownTitle: string
  outcomeUnknown: string

  linkBroken: string
  linkUnknownMerchant: string
  linkTestMissing: string
  linkTestUnexpected: string
  linkAmountInvalid: string
  linkCurrencyInvalid: string
  linkRedirectInvalid: string
  askTheShop: string
  scriptNeeded: string
  scriptNeededExplained: string

  testMode: string
  testModeExplained: string
  testOutcome: string
  testFillIn: string
  testApproved: string
  testApprovedFrictionless: string
  testAttempted: string
  testInsufficientFunds: string
  testDeclined: string
  testCardExpired: string
  testCardDisabled: string
  testCardLost: string
  testCodeWrong: string
  testNumberInvalid: string
  testSchemeUnsupported: string
  testAmountLimit: string
  testAuthenticationRejected: string
  testAuthenticationUnavailable: string
}
