import type { Clock } from '@tollgate/kit/clock'
import type { TemplateSource } from './custom-templates.ts'
import { plainLanguage } from './locale.ts'

const placeholder = '{locale}'

/** Languages are for callers to name, so that what they can make us fetch and keep has an end: so many addresses of a pattern, … */
const mostPlaces = 200
/** … each of which keeps its place for as long after its last use, … */
const idleSeconds = 600
/** … and so many characters of templates. */
const mostText = 10_000_000

/** The last language to be asked for, and the only one that nobody has to name. */
const lastResort = 'en'

export type LocalizedTemplates = {
  /** The template at a location, in the reader's language where `{locale}` stands in it; undefined where the built-in one is to be used. */
  find(location: string, locale: string | undefined): Promise<string | undefined>
}

/** Of `/mail/{locale}/invite.html` the one for `pt-br`, or else for `pt`, or else for `en`. */
export function createLocalizedTemplates(source: TemplateSource, now: Clock): LocalizedTemplates {
  /** Of every pattern the addresses in use and when each was used, the longest ago first. */
  const patterns = new Map<string, Map<string, number>>()

  /** Whether an address may be asked for: it is one of those in use, or there is room for one more. */
  function takePlace(places: Map<string, number>, address: string): boolean {
    const moment = now().getTime()
    if (!places.has(address) && places.size >= mostPlaces) {
      const leaving = findLeaver(places, moment)
      if (leaving === undefined) return false
      giveUp(places, leaving)
    }
    places.delete(address)
    places.set(address, moment)
    return true
  }

  /** Whoever makes languages up must not push out those that there are, unless there seems to be one for everything that is made up. */
  function findLeaver(places: Map<string, number>, moment: number): string | undefined {
    const idle = [...places.keys()].filter((address) => moment - (places.get(address) ?? 0) >= idleSeconds * 1000)
    const there = [...places.keys()].filter((address) => source.sizeOf(address) > 0)
    return idle.find((address) => source.sizeOf(address) === 0) ?? (there.length > mostPlaces / 2 ? idle[0] : undefined)
  }

  function giveUp(places: Map<string, number>, address: string) {
    places.delete(address)
    source.forget(address)
  }

  /** A server that has a long page for every language there could be must not fill our memory. */
  function shrink(places: Map<string, number>) {
    let total = [...places.keys()].reduce((sum, address) => sum + source.sizeOf(address), 0)
    for (const address of [...places.keys()]) {
      if (total <= mostText) return
      total -= source.sizeOf(address)
      if (source.sizeOf(address) > 0) giveUp(places, address)
    }
  }

  async function findVariant(pattern: string, language: string): Promise<string | undefined> {
    const address = pattern.replaceAll(placeholder, language)
    if (language === lastResort) return source.find(address, { of: pattern, mayBeMissing: false })
    const places = patterns.get(pattern) ?? new Map<string, number>()
    patterns.set(pattern, places)
    if (!takePlace(places, address)) return undefined
    const text = await source.find(address, { of: pattern, mayBeMissing: true })
    // Its place may have been given up while it was under way.
    if (!places.has(address)) source.forget(address)
    shrink(places)
    return text
  }

  return {
    async find(location, locale) {
      if (!location.includes(placeholder)) return source.find(location)
      for (const language of languagesFor(locale)) {
        const text = await findVariant(location, language)
        if (text !== undefined) return text
      }
      return undefined
    },
  }
}

function languagesFor(locale: string | undefined): Set<string> {
  const named = locale === undefined || !/^[a-z0-9-]+$/.test(locale) ? [] : [locale, plainLanguage(locale)]
  return new Set([...named, lastResort])
}

/** Callers name languages; which host is asked is for the operator alone to say. */
export function parseTemplateLocation(text: string): string | { expected: string } {
  const inHost = /^https?:\/\/[^/?#]*\{locale\}/i.test(text)
  return inHost ? { expected: 'an address that has {locale} only behind its host' } : text
}
