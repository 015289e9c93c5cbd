import type { App } from '../app.ts'
import { countLockedCards, type LockedCard, listLockedCards, replaceLockedCards } from '../store/locked-cards.ts'
import { aboutCard } from '../vault/about-card.ts'

export type Rotation = {
  moved: number
  /** Cards that none of the keys opens. */
  unopened: number
  /** How many cards need which key, now that it is over. */
  needed: readonly { keyId: string; cards: number }[]
}

/**
 * Locks the cards of agreements with the first key. It may be ended and begun again at any time, and the service may run meanwhile: a card
 * that somebody else has changed is left alone. Whoever still locks with another key meanwhile shows in what is needed.
 */
export async function rotateVault({ db, vault }: Pick<App, 'db' | 'vault'>, atOnce = 500): Promise<Rotation> {
  let [moved, unopened] = [0, 0]
  let after: Pick<LockedCard, 'merchantId' | 'transactionId'> = { merchantId: '', transactionId: '' }
  for (;;) {
    const page = await listLockedCards(db, { after, limit: atOnce })
    const last = page.at(-1)
    if (!last) break
    const anew = page.map((locked) => ({ ...locked, anew: vault.relock(locked.card, aboutCard(locked)) }))
    unopened += anew.filter((each) => each.anew === undefined && !vault.unlock(each.card, aboutCard(each))).length
    moved += await replaceLockedCards(
      db,
      anew.flatMap((each) => (each.anew ? [{ ...each, anew: each.anew }] : [])),
    )
    after = last
  }
  return { moved, unopened, needed: await countLockedCards(db) }
}
