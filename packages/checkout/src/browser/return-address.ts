/** Where a payer goes after paying, told which payment it was. What the address has already stays. */
export function returnAddress(redirect: string, transactionId: string): string {
  const url = new URL(redirect)
  const pair = `transactionId=${encodeURIComponent(transactionId)}`
  // Written by hand: setting a parameter would write all others anew, and not always as they were.
  url.search = url.search === '' ? pair : `${url.search}&${pair}`
  return url.href
}
