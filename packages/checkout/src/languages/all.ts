import { bg } from './bg.ts'
import { ca } from './ca.ts'
import { cs } from './cs.ts'
import { da } from './da.ts'
import { de } from './de.ts'
import { el } from './el.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { et } from './et.ts'
import { fi } from './fi.ts'
import { fr } from './fr.ts'
import { ga } from './ga.ts'
import { hr } from './hr.ts'
import { hu } from './hu.ts'
import { is } from './is.ts'
import { it } from './it.ts'
import { lt } from './lt.ts'
import { lv } from './lv.ts'
import { mt } from './mt.ts'
import { nb } from './nb.ts'
import { nl } from './nl.ts'
import { pl } from './pl.ts'
import { pt } from './pt.ts'
import { ro } from './ro.ts'
import { sk } from './sk.ts'
import { sl } from './sl.ts'
import { sv } from './sv.ts'
import { uk } from './uk.ts'
import type { Words } from './words.ts'

type Language = { code: string; locale: string; words: Words }

export const languages: Readonly<Record<string, Words>> = {
  bg,
  ca,
  cs,
  da,
  de,
  el,
  en,
  es,
  et,
  fi,
  fr,
  ga,
  hr,
  hu,
  is,
  it,
  lt,
  lv,
  mt,
  nb,
  nl,
  pl,
  pt,
  ro,
  sk,
  sl,
  sv,
  uk,
}

/** All of Norwegian, and the other way to write it: whoever reads that reads Bokmål. */
const otherNames: Readonly<Record<string, string>> = { no: 'nb', nn: 'nb' }

/** Where most speakers live across the ocean, Europe's way to write numbers is taken for a language without a region. */
const homes: Readonly<Record<string, string>> = { en: 'GB', pt: 'PT' }

/** Language, script, region of `en-US`, `en_US`, `nb-Latn-NO` or `de_AT.UTF-8`; what may follow them says nothing about words or numbers. */
const tag = /^([a-z]{2,3})(?:[-_][a-z]{4})?(?:[-_]([a-z]{2}|\d{3}))?(?:[-_.@].*)?$/i

/** Nobody speaks more. */
const mostAccepted = 32

/**
 * The language of the link, else the best that the browser asks for, else English. The locale is made anew from letters that were checked, so
 * that Intl takes it, whoever wrote the link.
 */
export function chooseLanguage(asked: { locale?: string | undefined; acceptLanguage?: string | undefined }): Language {
  for (const text of [asked.locale ?? '', ...rankAccepted(asked.acceptLanguage ?? '')]) {
    const language = findLanguage(text)
    if (language) return language
  }
  return { code: 'en', locale: 'en-GB', words: en }
}

function findLanguage(text: string): Language | undefined {
  const [, name = '', region] = tag.exec(text.trim()) ?? []
  const code = otherNames[name.toLowerCase()] ?? name.toLowerCase()
  const words = Object.hasOwn(languages, code) ? languages[code] : undefined
  if (!words) return undefined
  return { code, locale: `${code}-${region?.toUpperCase() ?? homeOf(code)}`, words }
}

function homeOf(code: string): string {
  return homes[code] ?? new Intl.Locale(code).maximize().region ?? code.toUpperCase()
}

/** What a browser accepts, most wanted first; equally wanted ones stay as they come. */
function rankAccepted(header: string): string[] {
  return header
    .split(',', mostAccepted)
    .map((range) => ({ text: range.split(';', 1)[0] ?? '', quality: qualityOf(range) }))
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality)
    .map(({ text }) => text)
}

/** https://www.rfc-editor.org/rfc/rfc9110#section-12.4.2; one that cannot be read counts as none. */
function qualityOf(range: string): number {
  const [, quality] = range.split(';').map((part) => part.trim().toLowerCase())
  if (quality === undefined) return 1
  return /^q=(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(quality) ? Number(quality.slice(2)) : 0
}
