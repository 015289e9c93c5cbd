import type { Clock } from '@tollgate/kit/clock'
import { type Fetch, type Fetched, OutsideTrouble } from '@tollgate/kit/fetch'

export type TemplateSource = {
  /** The template's text, or undefined where there is none to be had and the built-in one is to be used. */
  find(location: string, variant?: Variant): Promise<string | undefined>
  /** The characters of a template that is kept; 0 where it is not. */
  sizeOf(location: string): number
  forget(location: string): void
}

/** One of several under a pattern. It may be missing, which is remembered as long as a template is and needs no warning. */
export type Variant = { of: string; mayBeMissing: boolean }

export type TemplateCache = {
  /** The most bytes of a template. */
  maxSize: number
  /** Seconds for which a template is not fetched again. */
  maxAge: number
  /** Seconds from a failure to the next try. */
  retryInterval: number
}

type Parts = {
  siteUrl: string
  cache: TemplateCache
  now: Clock
  fetch: Fetch
  warn(location: string, sentence: string): void
}

type Entry = { text: string | undefined; renewAt: number }

/** Seconds for a template, redirects included: a mail waits for it. */
const timeLimit = 10
const mostRedirects = 3

/** Templates that the operator keeps on a web server: an absolute address, or a path below SITE_URL. */
export function createTemplateSource({ siteUrl, cache, now, fetch, warn }: Parts): TemplateSource {
  const entries = new Map<string, Entry>()
  const underway = new Map<string, Promise<string | undefined>>()

  async function renew(location: string, variant: Variant | undefined): Promise<string | undefined> {
    const outcome = await fetchTemplate(addressOf(location, siteUrl), { fetch, now, limit: cache.maxSize })
    const moment = now().getTime()
    if (outcome.text !== undefined) {
      entries.set(location, { text: outcome.text, renewAt: moment + cache.maxAge * 1000 })
      return outcome.text
    }
    if (outcome.gone && variant?.mayBeMissing) {
      entries.set(location, { text: undefined, renewAt: moment + cache.maxAge * 1000 })
      return undefined
    }
    // The operator's words of a while ago are better than ours, unless the operator took them away.
    const text = outcome.gone ? undefined : entries.get(location)?.text
    entries.set(location, { text, renewAt: moment + cache.retryInterval * 1000 })
    const instead = text !== undefined ? 'the copy fetched before' : variant?.mayBeMissing ? 'another' : 'the built-in template'
    warn(variant?.of ?? location, `${outcome.problem}; ${instead} is used instead`)
    return text
  }

  return {
    async find(location, variant) {
      const entry = entries.get(location)
      if (entry && now().getTime() < entry.renewAt) return entry.text
      const running = underway.get(location) ?? renew(location, variant).finally(() => underway.delete(location))
      underway.set(location, running)
      return running
    },
    sizeOf: (location) => entries.get(location)?.text?.length ?? 0,
    forget: (location) => void entries.delete(location),
  }
}

function addressOf(location: string, siteUrl: string): string {
  if (/^https?:\/\//i.test(location)) return location
  return `${siteUrl.replace(/[?#].*$/, '').replace(/\/+$/, '')}/${location.replace(/^\/+/, '')}`
}

type Outcome = { text: string; problem?: undefined } | { text?: undefined; problem: string; gone: boolean }

type Errand = { fetch: Fetch; now: Clock; limit: number }

async function fetchTemplate(address: string, { fetch, now, limit }: Errand): Promise<Outcome> {
  const begun = now().getTime()
  let url = URL.parse(address)
  // What is wrong with it may be a secret in the wrong place, so it is not repeated.
  if (!url) return failed('The address of the template cannot be understood')
  try {
    for (let redirects = 0; redirects <= mostRedirects; redirects++) {
      // A clock that was set back must not give more time than there was at the beginning.
      const timeout = Math.min(timeLimit, timeLimit - (now().getTime() - begun) / 1000)
      if (timeout <= 0) return failed(`GET ${shown(url)} was not answered within ${timeLimit} s`)
      const headers = { accept: 'text/html, text/*;q=0.9, */*;q=0.1' }
      const answer = await fetch(url.href, { timeout, limit, headers, asked: `GET ${shown(url)}` })
      const { location } = answer.headers
      if (answer.status < 300 || answer.status > 399 || location === undefined) return readTemplate(url, answer)
      const next = URL.parse(location, url)
      // Another host is somebody else's word, and http is a word that anybody on the way can change.
      if (next?.host !== url.host || (url.protocol === 'https:' && next.protocol !== 'https:')) {
        return failed(`${shown(url)} redirects elsewhere${next?.host ? `, to ${next.origin}` : ''}`)
      }
      url = next
    }
    return failed(`${shown(url)} redirects too often`)
  } catch (problem) {
    if (!(problem instanceof OutsideTrouble)) throw problem
    return failed(problem.message, isGone(problem.status))
  }
}

function readTemplate(url: URL, { status, text }: Fetched): Outcome {
  if (status !== 200) return failed(`GET ${shown(url)} answered ${status}`, isGone(status))
  // Editors of some systems put a mark at the beginning, which does not belong to the text.
  const template = text.replace(/^\uFEFF/, '')
  return template.trim() === '' ? failed(`GET ${shown(url)} answered an empty page`) : { text: template }
}

function failed(problem: string, gone = false): Outcome {
  return { problem, gone }
}

function isGone(status: number | undefined): boolean {
  return status === 404 || status === 410
}

/** Without user name, password and query, in which secrets travel. */
function shown({ origin, pathname }: URL): string {
  return origin + pathname
}
