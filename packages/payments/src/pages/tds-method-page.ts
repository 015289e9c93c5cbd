import type { FramedPage } from './framed-page.ts'
import { tellingPage } from './telling-page.ts'

/** What the bank of the card opens unseen before 3-D Secure begins. */
export function tdsMethodPage({ hints }: { hints: readonly string[] }): FramedPage {
  return tellingPage('3-D Secure', hints)
}
