import { fail } from '../errors.ts'

const usual = 50
const most = 1000

type Page = { page: number; perPage: number; offset: number }

/** Which page of a list is asked for. An empty parameter is one that was not given. */
export function readPage(query: { page?: string | undefined; per_page?: string | undefined }): Page {
  const page = readCount('page', query.page, { instead: 1, most: 1_000_000_000 })
  const perPage = readCount('per_page', query.per_page, { instead: usual, most })
  return { page, perPage, offset: (page - 1) * perPage }
}

export function readLimit(text: string | undefined): number {
  return readCount('limit', text, { instead: usual, most })
}

function readCount(name: string, text: string | undefined, { instead, most }: { instead: number; most: number }): number {
  if (text === undefined || text === '') return instead
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0
  if (value < 1 || value > most) throw badPagination(`${name} must be a whole number from 1 to ${most}`)
  return value
}

export function badPagination(reason: string) {
  return fail('validation_failed', { message: `Bad Pagination Parameters: ${reason}` })
}

/** What tells clients how many pages there are. The number of the page comes first in the links, where they look for it. */
export function pageHeaders(
  path: string,
  filters: Readonly<Record<string, string | undefined>>,
  { page, perPage, total }: { page: number; perPage: number; total: number },
): Record<string, string> {
  const last = Math.ceil(total / perPage)
  const link = (number: number, rel: string) =>
    `<${path}?${queryOf({ page: String(number), per_page: String(perPage), ...filters })}>; rel="${rel}"`
  const links = [...(page < last ? [link(page + 1, 'next')] : []), link(last, 'last')]
  return { 'x-total-count': String(total), link: links.join(', ') }
}

/** Without the marks by which clients take a Link header apart. */
export function queryOf(values: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `${name}=${encodeURIComponent(value as string)}`)
    .join('&')
}

const longestSearch = 255

/** A pattern for LIKE that finds a text wherever it occurs, and takes none of its characters for a wildcard. */
export function readSearch(name: string, text: string): string {
  if (Array.from(text).length > longestSearch)
    throw fail('validation_failed', { message: `${name}: Must be at most ${longestSearch} characters long` })
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`
}
