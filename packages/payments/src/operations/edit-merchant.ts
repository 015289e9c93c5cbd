import type { App } from '../app.ts'
import type { Price } from '../rules/fees.ts'
import { findMerchant, type Merchant, setTerms, type Terms } from '../store/merchants.ts'
import { insertPrice } from '../store/prices.ts'

/**
 * Changes what is up to us and not to the merchant, all of it or nothing; a price holds from now on. Answers with the merchant as it is
 * then, or undefined when there is none with this id.
 */
export function editMerchant(
  { db, now }: Pick<App, 'db' | 'now'>,
  id: string,
  { terms, price }: { terms: Partial<Terms>; price: Partial<Price> },
): Promise<Merchant | undefined> {
  return db.begin(async (tx) => {
    // This also lets those who change a price take turns.
    if (!(await setTerms(tx, id, terms))) return undefined
    await insertPrice(tx, id, now(), price)
    return findMerchant(tx, id, null)
  })
}
