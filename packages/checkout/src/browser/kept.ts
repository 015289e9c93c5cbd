import type { Attempt } from './pay.ts'

/** What a receipt tells. */
export type Receipt = {
  id: string
  minor: number
  /** When it was paid, as this device sees it. */
  paid: string
  last4: string
}

/** What this tab knows about the payment of a link. */
export type Kept = Running | { paid: Receipt }

export type Running = { running: Attempt; minor: number; last4: string }

export type Keeper = { read(): Kept | undefined; write(kept: Kept): void; clear(): void }

/** In the tab's own storage, by the link: a reload goes on, another tab or another link begins anew. */
export function keeperFor(link: string, storage = storageOf()): Keeper {
  const name = `tollgate ${link}`
  return {
    read() {
      try {
        return parse(storage?.getItem(name))
      } catch {
        return undefined
      }
    },
    write(kept) {
      try {
        storage?.setItem(name, JSON.stringify(kept))
      } catch {
        // A full or forbidden storage costs what a reload could have gone on with, and no payment.
      }
    },
    clear() {
      try {
        storage?.removeItem(name)
      } catch {
        // As above.
      }
    },
  }
}

function parse(text: string | null | undefined): Kept | undefined {
  const kept = text ? (JSON.parse(text) as Partial<{ running: Attempt; paid: Receipt }> | null) : undefined
  if (typeof kept?.paid?.id === 'string') return kept as Kept
  return kept?.running?.order && Array.isArray(kept.running.hints) ? (kept as Kept) : undefined
}

/** Browsers that are told to keep nothing throw at the mere mention. */
function storageOf(): Storage | undefined {
  try {
    return sessionStorage
  } catch {
    return undefined
  }
}
