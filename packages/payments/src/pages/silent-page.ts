import { type FramedPage, policyOf } from './framed-page.ts'

/** A page that never tells anything, so that whoever opened it waits until its time is over. */
export function silentPage(): FramedPage {
  const page =
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Nothing comes of this</title></head><body></body></html>'
  return { page, policy: policyOf({}) }
}
