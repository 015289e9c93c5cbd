import type { Words } from './languages/words.ts'

/** What the page knows when it is sent, both for writing it and for the script in it. */
export type PageFacts = {
  kind: 'link' | 'popup'
  language: { code: string; locale: string; words: Words }
  merchant: Merchant
  /** Of a link; a popup is told by the shop. */
  payment: Payment
  /** Of a popup: why nobody can pay here, for whoever wrote the shop's page. */
  problem?: string | undefined
  /** Of a popup, which is told the currency later: codes by how many decimals they have. */
  currencies?: Readonly<Record<string, string>>
}

export type Merchant = { key: string; name: string; test: boolean; currency: string }

export type Payment = {
  currency: string
  decimals: number
  /** Minor units; undefined where the payer enters it. */
  minor: number | undefined
  reference: string | undefined
  text: string | undefined
  redirect: string | undefined
  recurring: boolean
}

/** What the script finds in the page. */
export type PageData = Omit<PageFacts, 'language'> & { locale: string; words: Words }
