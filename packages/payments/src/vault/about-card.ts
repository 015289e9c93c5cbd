/** What the locked card of an agreement is about: moved to another row, it opens nothing there. */
export function aboutCard({ merchantId, transactionId }: { merchantId: string; transactionId: string }): string {
  return `card ${merchantId} ${transactionId}`
}
