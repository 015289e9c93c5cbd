import type { FramedPage } from './framed-page.ts'
import { tellingPage } from './telling-page.ts'

/** What is opened unseen to learn about the device that pays. */
export function fingerprintPage({ hints }: { hints: readonly string[] }): FramedPage {
  return tellingPage('Device', hints)
}
