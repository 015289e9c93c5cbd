import type { MailFacts, MailKind } from '../kinds.ts'
import { htmlPart } from './html-part.ts'
import { textPart } from './text-part.ts'
import { spokenDuration, wordsOf } from './words.ts'

/** The mail in our own words. */
export function builtInMail(
  kind: MailKind,
  facts: MailFacts,
  setting: { siteUrl: string; lifetime: number; subject: string },
): { html: string; text: string } {
  const { siteUrl, lifetime, subject } = setting
  const site = new URL(siteUrl).host
  const words = wordsOf[kind](facts, { site, siteUrl, validFor: spokenDuration(lifetime) })
  return { html: htmlPart(words, { site, subject }), text: textPart(words, site) }
}
