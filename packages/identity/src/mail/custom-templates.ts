import type { Clock } from '@tollgate/kit/clock'

export type TemplateSource = {
  /** The template's text, or undefined where there is none to be had and the built-in one is to be used. */
  find(location: string): Promise<string | undefined>
}

type Parts = {
  siteUrl: string
  now: Clock
  warn(location: string, sentence: string): void
  fetch?: typeof fetch
  /** In milliseconds. */
  timeout?: number
}

type Entry = { text: string | undefined; renewAt: number }

const goodFor = 10 * 60 * 1000
const retryAfter = 10 * 1000
const largest = 1_000_000
const mostRedirects = 3

/** Templates that the operator keeps on a web server: an absolute address, or a path below SITE_URL. */
export function createTemplateSource({ siteUrl, now, warn, fetch = globalThis.fetch, timeout = 10_000 }: Parts): TemplateSource {
  const entries = new Map<string, Entry>()
  const underway = new Map<string, Promise<string | undefined>>()

  async function renew(location: string): Promise<string | undefined> {
    const fetched = await fetchTemplate(addressOf(location, siteUrl), fetch, AbortSignal.timeout(timeout))
    const moment = now().getTime()
    if (fetched.text !== undefined) {
      entries.set(location, { text: fetched.text, renewAt: moment + goodFor })
      return fetched.text
    }
    // The operator's words of a while ago are better than ours, unless the operator took them away.
    const text = fetched.gone ? undefined : entries.get(location)?.text
    entries.set(location, { text, renewAt: moment + retryAfter })
    warn(
      location,
      `${fetched.problem}; ${text === undefined ? 'the built-in template' : 'the copy fetched before'} is used instead`,
    )
    return text
  }

  return {
    async find(location) {
      const entry = entries.get(location)
      if (entry && now().getTime() < entry.renewAt) return entry.text
      const running = underway.get(location) ?? renew(location).finally(() => underway.delete(location))
      underway.set(location, running)
      return running
    },
  }
}

function addressOf(location: string, siteUrl: string): string {
  if (/^https?:\/\//i.test(location)) return location
  return `${siteUrl.replace(/[?#].*$/, '').replace(/\/+$/, '')}/${location.replace(/^\/+/, '')}`
}

type Fetched = { text: string; problem?: undefined } | { text?: undefined; problem: string; gone: boolean }

async function fetchTemplate(address: string, fetch: typeof globalThis.fetch, signal: AbortSignal): Promise<Fetched> {
  try {
    let url = new URL(address)
    for (let redirects = 0; redirects <= mostRedirects; redirects++) {
      const response = await fetch(url, { redirect: 'manual', signal, headers: { accept: 'text/html, text/*;q=0.9, */*;q=0.1' } })
      const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
      if (location === null) return await readTemplate(url, response)
      await response.body?.cancel()
      const next = new URL(location, url)
      // Another host is somebody else's word, and might be a machine that only we can reach.
      if (next.host !== url.host || (url.protocol === 'https:' && next.protocol !== 'https:')) {
        return failed(`${shown(url)} redirects to another host, ${next.origin}`)
      }
      url = next
    }
    return failed(`${shown(url)} redirects too often`)
  } catch (problem) {
    return failed(`${address.replace(/[?#].*$/, '')} cannot be fetched: ${reasonOf(problem)}`)
  }
}

async function readTemplate(url: URL, response: Response): Promise<Fetched> {
  if (response.status !== 200) {
    await response.body?.cancel()
    return failed(`GET ${shown(url)} answered ${response.status}`, response.status === 404 || response.status === 410)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    // Leaving the loop cancels the rest.
    if (size > largest) return failed(`GET ${shown(url)} answered more than ${largest} bytes`)
    chunks.push(chunk)
  }
  const text = new TextDecoder().decode(Buffer.concat(chunks))
  return text.trim() === '' ? failed(`GET ${shown(url)} answered an empty page`) : { text }
}

function failed(problem: string, gone = false): Fetched {
  return { problem, gone }
}

/** Without user name, password and query, in which secrets travel. */
function shown({ origin, pathname }: URL): string {
  return origin + pathname
}

function reasonOf(problem: unknown): string {
  if (!(problem instanceof Error)) return String(problem)
  if (problem.name === 'TimeoutError') return 'no answer in time'
  const { cause } = problem
  return cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : problem.message
}
