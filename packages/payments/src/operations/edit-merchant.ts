import type { App } from '../app.ts'
import type { Price } from '../rules/fees.ts'
import { findMerchant, type Merchant, setAccent, setTerms, type Terms } from '../store/merchants.ts'
import { insertPrice } from '../store/prices.ts'

/**
 * Changes what is up to us and not to the merchant, and the colour of its page, all of it or nothing; a price holds from now on. Answers with the merchant as it is
 * then, or undefined when there is none with this id.
 */
export function editMerchant(
  { db, now }: Pick<App, 'db' | 'now'>,
  id: string,
  { terms, price, accent }: { terms: Partial<Terms>; price: Partial<Price>; accent?: string | null | undefined },
): Promise<Merchant | undefined> {
  return db.begin(async (tx) => {
    // This also lets those who change a price take turns.
    if (!(await setTerms(tx, id, terms, now()))) return undefined
    if (accent !== undefined) await setAccent(tx, id, accent)
    await insertPrice(tx, id, now(), price)
    return findMerchant(tx, id, null)
  })
}
