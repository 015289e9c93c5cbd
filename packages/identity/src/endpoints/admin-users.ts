import type { Db, Sql } from '@tollgate/kit/db'
import { Answer } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { type App, endpoint } from '../app.ts'
import { admin } from '../callers.ts'
import { fail } from '../errors.ts'
import { AccountFields, createUser, readWishedId } from '../operations/administer-user.ts'
import { countAccounts } from '../operations/count-accounts.ts'
import { narrowSearch } from '../operations/narrow-search.ts'
import { readCursor, writeCursor } from '../operations/read-cursor.ts'
import { readEmail, readPhone } from '../operations/read-input.ts'
import { badPagination, pageHeaders, queryOf, readLimit, readPage, readSearch } from '../operations/read-page.ts'
import { requestAudience } from '../rules/audience.ts'
import { UserShape, userReply } from '../shapes.ts'
import {
  beginSearch,
  countMatches,
  findMatches,
  hasTrigram,
  type ListedUser,
  listAfter,
  listByContact,
  listManyMatches,
  listPage,
  listUsers,
  type Position,
} from '../store/user-search.ts'

const path = '/admin/users'
const tag = 'Administration'

export const adminCreateUser = endpoint({
  method: 'POST',
  path,
  summary: 'Create an account',
  description: 'Also where nobody may sign up. Nothing is sent; what is said to be confirmed is.',
  tag,
  caller: admin,
  body: Type.Object({
    ...AccountFields.properties,
    id: Type.Optional(Type.String({ description: 'A UUID; a random one if left out' })),
  }),
  reply: { 200: UserShape },
  fails: ['email_exists', 'phone_exists', 'user_already_exists'],

  async run(app, { who, request, body }) {
    return userReply(await createUser(app, { who, request }, body, readWishedId(body.id)))
  },
})

const Query = Type.Object({
  page: Type.Optional(Type.String({ description: 'From 1' })),
  per_page: Type.Optional(Type.String({ description: '50, and 1000 at most' })),
  limit: Type.Optional(Type.String({ description: 'With cursors instead of numbered pages: 50, and 1000 at most' })),
  cursor: Type.Optional(Type.String({ description: 'The next_cursor of the page before, for the same search and order' })),
  sort: Type.Optional(Type.String({ description: 'created_at desc, the default, or created_at asc' })),
  filter: Type.Optional(Type.String({ description: 'A text that occurs in the email address, phone number or name' })),
  email: Type.Optional(Type.String({ description: 'Exactly this address' })),
  phone: Type.Optional(Type.String({ description: 'Exactly this number' })),
})

type Asked = Type.Static<typeof Query>

export const adminUsers = endpoint({
  method: 'GET',
  path,
  summary: 'List accounts',
  description:
    'By numbered pages (page, per_page), with their number in the headers X-Total-Count and Link; or, which stays fast however far one goes, from cursor to cursor (limit, cursor). Totals are exact up to a million accounts, or a hundred thousand that a filter finds.',
  tag,
  caller: admin,
  query: Query,
  reply: {
    200: Type.Object({
      users: Type.Array(
        Type.Object({ ...UserShape.properties, identities: Type.Null({ description: 'Lists do not tell them' }) }),
      ),
      aud: Type.String(),
      pagination: Type.Optional(Type.Object({ next_cursor: Type.Optional(Type.String()), has_more: Type.Boolean() })),
    }),
  },
  fails: ['validation_failed'],

  async run(app, { who, query, request }) {
    const aud = requestAudience(request.headers['x-jwt-aud'], who.claims, app.config.jwt)
    const list = readList(query, aud)
    const { page, per_page: perPage, limit, cursor } = query
    if (!limit && !cursor) return numberedPage(app, list, query)
    if (page || perPage) throw badPagination('use either page and per_page, or limit and cursor')
    return pageFromCursor(app, list, query)
  },
})

/** What is listed, and in which order. */
type List = { aud: string; newestFirst: boolean; contact?: Contacts; search?: Search }
/** What is looked for, also as a pattern that finds it wherever it occurs. */
type Search = { text: string; pattern: string }
type Contacts = { email: string | undefined; phone: string | undefined }

function readList({ sort = '', filter = '', email = '', phone = '' }: Asked, aud: string): List {
  if (!/^(created_at( asc| desc)?)?$/i.test(sort))
    throw fail('validation_failed', { message: 'Bad Sort Parameters: sort must be created_at asc or created_at desc' })
  const list = { aud, newestFirst: !/ asc$/i.test(sort) }
  if (email === '' && phone === '')
    return filter === '' ? list : { ...list, search: { text: filter, pattern: readSearch('filter', filter) } }
  if (filter !== '') throw fail('validation_failed', { message: 'Use either filter, or email and phone' })
  const contact = { email: email === '' ? undefined : readEmail(email), phone: phone === '' ? undefined : readPhone(phone) }
  return { ...list, contact }
}

async function numberedPage(app: App, list: List, query: Asked) {
  const { page, perPage, offset } = readPage(query)
  const { total, users } = await apart(app, async (sql) => {
    const { total, found } = await findPage(app.db, sql, list, { offset, limit: perPage })
    return { total, users: await listUsers(sql, idsOf(found)) }
  })
  const { sort, filter, email, phone } = query
  const headers = pageHeaders(path, { sort, filter, email, phone }, { page, perPage, total })
  return new Answer(200, { users: users.map(listedReply), aud: list.aud }, headers)
}

async function pageFromCursor(app: App, list: List, query: Asked) {
  const limit = readLimit(query.limit)
  const kind = [list.aud, String(list.newestFirst), list.search?.pattern, list.contact?.email, list.contact?.phone]
  const after = query.cursor ? readCursor(query.cursor, kind) : undefined
  if (query.cursor && !after) throw badPagination('cursor is not one of this list, for the same search and order')
  // One more than asked for tells whether there are more.
  const find = (sql: Sql) => findAfter(app.db, sql, list, { after, limit: limit + 1 })
  const found = list.search === undefined ? await find(app.db) : await apart(app, find)
  const shown = found.slice(0, limit)
  const last = found.length > limit ? shown.at(-1) : undefined
  const cursor = last && writeCursor(last, kind)
  const { sort, filter, email, phone } = query
  const next = `<${path}?${queryOf({ cursor, limit: String(limit), sort, filter, email, phone })}>; rel="next"`
  const users = await listUsers(app.db, idsOf(shown))
  const body = {
    users: users.map(listedReply),
    aud: list.aud,
    pagination: { next_cursor: cursor, has_more: last !== undefined },
  }
  return new Answer(200, body, cursor === undefined ? {} : { link: next })
}

/** On a connection of its own, and not for ever: what counts and searches must not hold up the short statements of everybody else. */
function apart<T>({ db }: App, story: (sql: Sql) => Promise<T>): Promise<T> {
  return db.begin(async (tx) => {
    const [, result] = await Promise.all([beginSearch(tx), story(tx)])
    return result
  })
}

const mostCounted = 1_000_000
const mostMatchesCounted = 100_000
/** From here on a search finds many, of whom a page is sooner found in their order than by finding all. */
const many = 10_000

type Stretch = { offset: number; limit: number }

async function findPage(db: Db, sql: Sql, list: List, { offset, limit }: Stretch) {
  if (list.contact) {
    const found = await listByContact(sql, { aud: list.aud, ...list.contact })
    return { total: found.length, found: found.slice(offset, offset + limit) }
  }
  if (list.search) return findMatching(db, sql, { ...list, ...list.search, offset, limit }, mostMatchesCounted)
  const total = await countAccounts(db, sql, list.aud, mostCounted)
  if (offset >= total && total < mostCounted) return { total, found: [] }
  return { total, found: await listPage(sql, { ...list, limit }, offset) }
}

async function findAfter(db: Db, sql: Sql, list: List, { after, limit }: { after: Position | undefined; limit: number }) {
  const { aud, contact, search } = list
  if (contact) {
    const found = await listByContact(sql, { aud, ...contact })
    return found.filter(({ id }) => !after || id > after.id).slice(0, limit)
  }
  if (!search) return listAfter(sql, { ...list, limit }, after)
  return (await findMatching(db, sql, { ...list, ...search, offset: 0, limit, after }, many)).found
}

type Asking = Search & Stretch & { aud: string; newestFirst: boolean; after?: Position | undefined }

/** Whom a search finds, and how many there are, up to `most`: in one go where the index helps and they are fewer. */
async function findMatching(db: Db, sql: Sql, asked: Asking, most: number): Promise<{ total: number; found: Position[] }> {
  if (hasTrigram(asked.text)) {
    const part = readSearch('filter', await narrowSearch(db, sql, asked.text))
    const matches = await findMatches(sql, asked, { part, most })
    return matches.total < most ? matches : { ...matches, found: await listManyMatches(sql, asked) }
  }
  const total = await countMatches(sql, asked.aud, asked.pattern, most)
  if (asked.offset >= total && total < most) return { total, found: [] }
  return { total, found: await listManyMatches(sql, asked) }
}

function idsOf(positions: readonly Position[]): string[] {
  return positions.map(({ id }) => id)
}

function listedReply(user: ListedUser) {
  return { ...userReply({ ...user, identities: [] }), identities: null }
}
