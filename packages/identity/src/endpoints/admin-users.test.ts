import { randomUUID } from 'node:crypto'
import { say } from '@tollgate/kit/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminAuthorization, createAccount, startIdentity } from '../testing.ts'

type Body = Record<string, unknown>
type Listed = {
  users: { id: string; email: string; identities: unknown }[]
  aud: string
  pagination?: { next_cursor?: string; has_more: boolean }
}

let service: Awaited<ReturnType<typeof startIdentity>>
beforeAll(async () => {
  service = await startIdentity()
})
afterAll(() => service.stop())

const call = (what: string, json?: unknown, headers: Record<string, string> = {}) =>
  service.call(what, {
    headers: { authorization: adminAuthorization(service), ...headers },
    ...(json === undefined ? {} : { json }),
  })
const create = (body: Body, headers?: Record<string, string>) => call('POST /admin/users', body, headers)
/** Every test lists an audience of its own, so that it meets nobody else's accounts. */
const list = (query: string, aud: string) => call(`GET /admin/users${query}`, undefined, { 'x-jwt-aud': aud })
const emails = (answer: Awaited<ReturnType<typeof call>>) => answer.json<Listed>().users.map(({ email }) => email)
const fresh = () => `${randomUUID()}@site.test`
const freshPhone = () => `49${Math.floor(Math.random() * 1e10 + 1e10)}`
const refusal = ({ status, json }: Awaited<ReturnType<typeof call>>) => {
  const { error_code: code, msg } = json<{ error_code: string; msg: string }>()
  return `${status} ${code}: ${msg}`
}

/** So many accounts of an audience, a second apart: 001@… is the oldest. */
async function populate(aud: string, count: number) {
  await service.app.db`
    insert into auth.users (id, aud, email, created_at, updated_at)
    select gen_random_uuid(), ${aud}, lpad(n::text, 3, '0') || '@' || ${aud} || '.test',
      timestamptz '2029-01-01' + n * interval '1 second', now()
    from generate_series(1, ${count}::int) n`
}

const numbers = (from: number, to: number, aud: string) =>
  Array.from(
    { length: Math.abs(to - from) + 1 },
    (_, index) => `${String(from < to ? from + index : from - index).padStart(3, '0')}@${aud}.test`,
  )

test('an account is created with all that is said of it', async () => {
  const [email, phone] = [fresh(), freshPhone()]
  const answer = await create({
    email: ` ${email.toUpperCase()}`,
    phone: `+${phone}`,
    role: 'editor',
    aud: 'elsewhere',
    password: 'swordfish',
    email_confirm: true,
    phone_confirm: true,
    user_metadata: { nick: 'ann' },
    app_metadata: { plan: 'pro', gone: null },
    ban_duration: '1h',
  })
  expect(answer.status).toBe(200)
  const now = service.now()
  expect(answer.json()).toMatchObject({
    email,
    phone,
    role: 'editor',
    aud: 'elsewhere',
    email_confirmed_at: now.toISOString(),
    phone_confirmed_at: now.toISOString(),
    banned_until: new Date(now.getTime() + 3_600_000).toISOString(),
    is_anonymous: false,
  })
  const {
    app_metadata: app,
    user_metadata: user,
    identities,
  } = answer.json<{ app_metadata: Body; user_metadata: Body; identities: Body[] }>()
  expect(app).toEqual({ provider: 'email', providers: ['email', 'phone'], plan: 'pro' })
  expect(user).toEqual({ nick: 'ann', email_verified: true, phone_verified: true })
  expect(identities.map(({ provider }) => provider).sort()).toEqual(['email', 'phone'])
  expect(answer.text).not.toMatch(/password|argon2/)
})

test('without more, an account has the usual role and audience, and nothing confirmed', async () => {
  const answer = await create({ email: fresh() })
  expect(answer.json()).toMatchObject({ role: 'authenticated', aud: 'authenticated', user_metadata: {} })
  expect(answer.json()).not.toHaveProperty('email_confirmed_at')
  expect((await create({ email: fresh() }, { 'x-jwt-aud': 'theirs' })).json()).toMatchObject({ aud: 'theirs' })
})

test('an account gets the id that the body wishes for', async () => {
  const id = randomUUID()
  expect((await create({ id: id.toUpperCase(), email: fresh() })).json()).toMatchObject({ id })
})

test('accounts are created where nobody may sign up, and no mail is sent', async () => {
  const closed = await startIdentity({ AUTH_DISABLE_SIGNUP: 'true', AUTH_EXTERNAL_EMAIL_ENABLED: 'false' })
  const headers = { authorization: adminAuthorization(closed) }
  expect((await closed.call('POST /admin/users', { headers, json: { email: fresh() } })).status).toBe(200)
  expect(await closed.app.db`select from auth.messages`).toHaveLength(0)
  await closed.stop()
})

test('a password of any strength opens a created account', async () => {
  const email = fresh()
  await create({ email, email_confirm: true, password: 'abc' })
  expect((await service.call('POST /token?grant_type=password', { json: { email, password: 'abc' } })).status).toBe(200)
})

test.each([
  ['bcrypt', '$2b$04$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy'],
  ['argon2id', '$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$iWh06vD8Fy27wf9npn6FXWiCX4K6pW6Ue1Bnzz07Z8A'],
  ['PBKDF2', '$pbkdf2-sha256$i=1000,l=32$c29tZXNhbHQ$iWh06vD8Fy27wf9npn6FXWiCX4K6pW6Ue1Bnzz07Z8A'],
  [
    'Firebase',
    '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH$c29tZXNhbHQ$jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH',
  ],
])('a hash of %s is taken over as it is', async (_, hash) => {
  const answer = await create({ email: fresh(), password_hash: hash })
  expect(answer.status).toBe(200)
  const { id } = answer.json<{ id: string }>()
  expect(await service.app.db`select encrypted_password as hash from auth.users where id = ${id}`).toEqual([{ hash }])
})

const address = { email: 'somebody@site.test' }
test.each([
  ['neither address nor number', {}, '400 validation_failed: Cannot create a user without either an email or phone'],
  ['empty ones', { email: '', phone: '' }, '400 validation_failed: Cannot create a user without either an email or phone'],
  ['a broken address', { email: 'ann@' }, '400 validation_failed: Unable to validate email address: invalid format'],
  ['an address of 300 bytes', { email: `${'a'.repeat(300)}@b.c` }, '400 validation_failed: An email address is too long'],
  ['a broken number', { phone: '0123' }, '400 validation_failed: Invalid phone number format (E.164 required)'],
  [
    'a password and a hash',
    { ...address, password: 'a', password_hash: 'b' },
    '400 validation_failed: Only a password or a password hash should be provided',
  ],
  [
    '73 bytes of password',
    { ...address, password: 'x'.repeat(73) },
    '400 validation_failed: Password cannot be longer than 72 characters',
  ],
  [
    'a hash that costs too much',
    { ...address, password_hash: '$2b$31$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy' },
    '400 validation_failed: password_hash: bcrypt may have a cost of 4 to 15',
  ],
  ['an id that is none', { ...address, id: '7' }, '400 validation_failed: ID must conform to the uuid v4 format'],
  ['the nil id', { ...address, id: '00000000-0000-0000-0000-000000000000' }, '400 validation_failed: ID cannot be a nil uuid'],
  [
    'a ban of words',
    { ...address, ban_duration: 'for ever' },
    '400 validation_failed: invalid format for ban duration: time: invalid duration "for ever"',
  ],
  [
    'a role of 10 kB',
    { ...address, role: 'r'.repeat(10_240) },
    '400 validation_failed: role: Must be at most 255 characters long',
  ],
  [
    'an audience of 10 kB',
    { ...address, aud: 'r'.repeat(10_240) },
    '400 validation_failed: aud: Must be at most 255 characters long',
  ],
])('%s is refused', async (_, body, expected) => {
  expect(refusal(await create(body))).toBe(expected)
})

test('an audience in the header is as long as one in the body', async () => {
  expect(refusal(await create({ email: fresh() }, { 'x-jwt-aud': 'a'.repeat(256) }))).toBe(
    '400 validation_failed: aud: Must be at most 255 characters long',
  )
})

test.each([
  [{ ...address, id: 7 }],
  [{ email: {} }],
  [{ phone: 4915112345678 }],
  [{ ...address, user_metadata: 'x' }],
  [{ ...address, email_confirm: 'yes' }],
  [{ email: 'a\u0000@site.test' }],
  [null],
  [[]],
])('%j is not what a body looks like', async (body) => {
  const answer = await call('POST /admin/users', body)
  expect(answer.status).toBe(400)
  expect(answer.json()).toMatchObject({ error_code: 'bad_json' })
})

test('POST without a body is refused', async () => {
  expect(refusal(await call('POST /admin/users'))).toBe(
    '400 bad_json: Could not parse request body as JSON: unexpected end of JSON input',
  )
})

test('a duplicate is refused by what is taken, and leaves no audit entry', async () => {
  const [email, phone] = [fresh(), freshPhone()]
  await create({ email, phone })
  const count = () => service.app.db`select from auth.audit_log_entries`
  const before = (await count()).length
  const exists = '422 email_exists: A user with this email address has already been registered'
  expect(refusal(await create({ email: email.toUpperCase() }))).toBe(exists)
  expect(refusal(await create({ email, phone }))).toBe(exists)
  expect(refusal(await create({ email: fresh(), phone: `+${phone}` }))).toBe(
    '422 phone_exists: Phone number already registered by another user',
  )
  expect((await count()).length).toBe(before)
})

test('twenty creations of one address at once: one account, nineteen refusals, one audit entry', async () => {
  const email = fresh()
  const answers = await Promise.all(Array.from({ length: 20 }, () => create({ email })))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(answers.filter((answer) => answer.status === 422 && answer.text.includes('email_exists'))).toHaveLength(19)
  expect(
    await service.app.db`
    select from auth.audit_log_entries where payload -> 'traits' ->> 'user_email' = ${email}`,
  ).toHaveLength(1)
})

test('twenty creations of one id at once: one account, nineteen refusals', async () => {
  const id = randomUUID()
  const answers = await Promise.all(Array.from({ length: 20 }, () => create({ id, email: fresh() })))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(answers.filter((answer) => answer.text.includes('user_already_exists'))).toHaveLength(19)
})

test('who may: the roles that the operator names, and nobody else', async () => {
  const ask = (authorization?: string) =>
    service.call('GET /admin/users?per_page=1', { headers: authorization ? { authorization } : {} })
  const token = (claims: Body) => `Bearer ${service.app.keys.sign(claims)}`
  expect((await ask(adminAuthorization(service))).status).toBe(200)
  expect((await ask(adminAuthorization(service, 'supabase_admin'))).status).toBe(200)
  expect(refusal(await ask())).toMatch(/^401 no_authorization/)
  expect(refusal(await ask(adminAuthorization(service, 'anon')))).toBe('403 not_admin: User not allowed')
  expect(refusal(await ask(adminAuthorization(service, 'service_admin')))).toBe('403 not_admin: User not allowed')
  expect(refusal(await ask(token({})))).toBe('403 not_admin: User not allowed')
  expect(refusal(await ask(token({ role: 'service_role', exp: 1 })))).toMatch(/^403 bad_jwt: .*token is expired/)
  expect(refusal(await ask(`${adminAuthorization(service)}x`))).toMatch(/^403 bad_jwt/)
})

test('an operator in person may as long as their session lasts', async () => {
  const { userId, sessionId, authorization } = await createAccount(service, { role: 'service_role' })
  const ask = () => service.call('GET /admin/users?per_page=1', { headers: { authorization } })
  expect((await ask()).status).toBe(200)
  await service.app.db`delete from auth.sessions where id = ${sessionId}`
  expect(refusal(await ask())).toBe('403 session_expired: Session is no longer valid')
  await service.app.db`delete from auth.users where id = ${userId}`
  expect((await ask()).status).toBe(403)
})

test('pages are numbered from 1, newest first, and the headers tell how many there are', async () => {
  await populate('paged', 120)
  const first = await list('', 'paged')
  expect(emails(first)).toEqual(numbers(120, 71, 'paged'))
  expect(first.json()).toMatchObject({ aud: 'paged' })
  expect(first.json()).not.toHaveProperty('pagination')
  expect(first.headers['x-total-count']).toBe('120')
  expect(first.headers.link).toBe('</admin/users?page=2&per_page=50>; rel="next", </admin/users?page=3&per_page=50>; rel="last"')
  const last = await list('?page=3&per_page=50', 'paged')
  expect(emails(last)).toEqual(numbers(20, 1, 'paged'))
  expect(last.headers.link).toBe('</admin/users?page=3&per_page=50>; rel="last"')
  const beyond = await list('?page=1000000000&per_page=1000', 'paged')
  expect(emails(beyond)).toEqual([])
  expect(beyond.headers['x-total-count']).toBe('120')
})

test('the links are what today’s client takes apart', async () => {
  await populate('linked', 4)
  const { headers } = await list('?per_page=1&filter=linked%2C%22%3B%3D&sort=created_at%20asc', 'linked')
  expect(headers.link).toBe('</admin/users?page=0&per_page=1&sort=created_at%20asc&filter=linked%2C%22%3B%3D>; rel="last"')
  const links = String((await list('?per_page=1&filter=linked', 'linked')).headers.link).split(',')
  const pages = links.map((link) => {
    const [url = '', rel = ''] = link.split(';')
    return [JSON.parse(rel.split('=')[1] ?? ''), Number.parseInt(url.split('=')[1]?.slice(0, 1) ?? '', 10)]
  })
  expect(pages).toEqual([
    ['next', 2],
    ['last', 4],
  ])
})

test('nobody is page 0 of 0', async () => {
  const { headers, json } = await list('', 'empty')
  expect(json()).toEqual({ users: [], aud: 'empty' })
  expect(headers['x-total-count']).toBe('0')
  expect(headers.link).toBe('</admin/users?page=0&per_page=50>; rel="last"')
})

test('listed accounts do not tell their identities, nor anything secret', async () => {
  const email = fresh()
  await create({ email, aud: 'listed', password: 'swordfish', user_metadata: { nick: 'ann' } })
  const answer = await list('', 'listed')
  expect(answer.json()).toMatchObject({
    users: [{ email, identities: null, user_metadata: { nick: 'ann' }, is_anonymous: false }],
  })
  expect(answer.text).not.toMatch(/encrypted|argon2|sso/)
})

test('the order can be turned round', async () => {
  await populate('sorted', 3)
  const [up, down] = [numbers(1, 3, 'sorted'), numbers(3, 1, 'sorted')]
  for (const [sort, expected] of [
    ['created_at%20asc', up],
    ['created_at+desc', down],
    ['created_at', down],
    ['', down],
  ] as const) {
    expect(emails(await list(`?sort=${sort}`, 'sorted'))).toEqual(expected)
    expect(emails(await list(`?sort=${sort}&limit=9`, 'sorted'))).toEqual(expected)
    expect(emails(await list(`?sort=${sort}&filter=sorted`, 'sorted'))).toEqual(expected)
  }
})

test.each(['email asc', 'created_at sideways', 'created_at asc, id', 'constructor', "created_at'; drop table auth.users"])(
  'sort=%s is refused',
  async (sort) => {
    expect(refusal(await list(`?sort=${encodeURIComponent(sort)}`, 'x'))).toBe(
      '400 validation_failed: Bad Sort Parameters: sort must be created_at asc or created_at desc',
    )
  },
)

test.each([
  ['page=0'],
  ['page=-1'],
  ['page=1.5'],
  ['page=1e9'],
  ['page=ten'],
  ['page=10000000000'],
  ['per_page=0'],
  ['per_page=1001'],
  ['per_page=-50'],
  ['limit=0'],
  ['limit=1001'],
  ['limit=abc'],
  ['limit=10&page=2'],
  ['cursor=abc&per_page=2'],
  ['cursor=abc'],
  [`cursor=${'a'.repeat(5000)}`],
])('%s is refused', async (query) => {
  expect(refusal(await list(`?${query}`, 'x'))).toMatch(/^400 validation_failed: Bad Pagination Parameters: /)
})

test.each([
  ['page[]=1'],
  ['filter[a]=1'],
  ['filter=%00'],
  ['filter=%ff'],
  [`filter=${'x'.repeat(256)}`],
  ['email=ann'],
  ['phone=x'],
  ['filter=a&email=a@b.c'],
])('%s is refused too', async (query) => {
  const answer = await list(`?${query}`, 'x')
  expect(answer.status).toBe(400)
  expect(answer.json()).toMatchObject({ error_code: 'validation_failed' })
})

/** All pages from cursor to cursor. */
async function walk(query: string, aud: string) {
  const pages: string[][] = []
  for (let cursor = ''; ; ) {
    const answer = await list(`?${query}${cursor && `&cursor=${cursor}`}`, aud)
    expect(answer.status).toBe(200)
    pages.push(emails(answer))
    const { pagination } = answer.json<Listed>()
    expect(pagination?.has_more).toBe(pagination?.next_cursor !== undefined)
    if (!pagination?.next_cursor) {
      expect(answer.headers.link).toBeUndefined()
      return pages
    }
    cursor = pagination.next_cursor
    expect(answer.headers.link).toContain(`</admin/users?cursor=${cursor}&limit=`)
    expect(answer.headers.link).toMatch(/>; rel="next"$/)
  }
}

test('from cursor to cursor everybody is met once, however many joined in the same microsecond or have no date', async () => {
  await service.app.db`
    insert into auth.users (id, aud, email, created_at)
    select gen_random_uuid(), 'walked', lpad(n::text, 3, '0') || '@walked.test',
      case when n > 20 then timestamptz '2029-01-01' + (n / 5) * interval '1 microsecond' end
    from generate_series(1, 60) n`
  for (const query of [
    'limit=7',
    'limit=7&sort=created_at+asc',
    'limit=7&filter=walked',
    'limit=7&filter=walked&sort=created_at+asc',
  ]) {
    const pages = await walk(query, 'walked')
    expect(pages.map((page) => page.length)).toEqual([7, 7, 7, 7, 7, 7, 7, 7, 4])
    expect(pages.flat().toSorted()).toEqual(numbers(1, 60, 'walked'))
    const blocks = pages.flat().map((email) => Math.floor(Math.max(Number(email.slice(0, 3)), 20) / 5))
    expect(blocks).toEqual(blocks.toSorted((one, other) => (query.includes('asc') ? one - other : other - one)))
  }
  expect((await walk('limit=60', 'walked')).map((page) => page.length)).toEqual([60])
})

test('numbered pages agree with cursors', async () => {
  const [one, two] = [await list('?page=2&per_page=30', 'walked'), await list('?page=1&per_page=30', 'walked')]
  expect([...emails(two), ...emails(one)]).toEqual((await walk('limit=60', 'walked')).flat())
})

test('whoever joins or leaves meanwhile moves nobody from page to page', async () => {
  await populate('moving', 6)
  const { pagination } = (await list('?limit=2', 'moving')).json<Listed>()
  await create({ email: 'new@moving.test', aud: 'moving' })
  await service.app.db`delete from auth.users where email = '005@moving.test'`
  expect(emails(await list(`?limit=2&cursor=${pagination?.next_cursor}`, 'moving'))).toEqual(numbers(4, 3, 'moving'))
})

test('a cursor that was forged, or is of another search, order or audience, is refused', async () => {
  await populate('forged', 3)
  const cursor = (await list('?limit=1', 'forged')).json<Listed>().pagination?.next_cursor ?? ''
  const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
  const forge = (...changed: unknown[]) => Buffer.from(JSON.stringify(changed)).toString('base64url')
  const [at, id, print] = parts
  expect((await list(`?limit=1&cursor=${forge(at, id, print)}`, 'forged')).status).toBe(200)
  for (const [query, aud] of [
    [`cursor=${cursor}&filter=forged`, 'forged'],
    [`cursor=${cursor}&sort=created_at+asc`, 'forged'],
    [`cursor=${cursor}&email=001@forged.test`, 'forged'],
    [`cursor=${cursor}`, 'walked'],
    [`cursor=${forge('2029-02-31T00:00:00.000000Z', id, print)}`, 'forged'],
    [`cursor=${forge('now', id, print)}`, 'forged'],
    [`cursor=${forge(7, id, print)}`, 'forged'],
    [`cursor=${forge(at, 'x', print)}`, 'forged'],
    [`cursor=${forge(at, id)}`, 'forged'],
    [`cursor=${forge({ at })}`, 'forged'],
  ] as const)
    expect(refusal(await list(`?limit=1&${query}`, aud))).toBe(
      '400 validation_failed: Bad Pagination Parameters: cursor is not one of this list, for the same search and order',
    )
})

test('a filter is looked for in address, number and names, in any case, and takes no character for a wildcard', async () => {
  const people: Body[] = [
    { email: 'Ann.Smith@search.test', user_metadata: { full_name: 'Ann Smith' } },
    { email: 'bob_1@search.test', user_metadata: { name: 'Bob 100% Jones' } },
    { email: 'bobx1@search.test', user_metadata: { full_name: 7, nick: 'Smith' } },
    { phone: '4915112345670' },
    { email: 'back@search.test', user_metadata: { name: 'back\\slash' } },
  ]
  for (const person of people) expect((await create({ ...person, aud: 'search' })).status).toBe(200)
  const found = async (filter: string) => {
    const answer = await list(`?filter=${encodeURIComponent(filter)}&sort=created_at+asc`, 'search')
    const few = emails(await list(`?filter=${encodeURIComponent(filter)}&sort=created_at+asc&limit=50`, 'search'))
    expect(few).toEqual(emails(answer))
    expect(answer.headers['x-total-count']).toBe(String(few.length))
    return few.map((email) => email.split('@')[0]).sort()
  }
  expect(await found('SMITH')).toEqual(['ann.smith'])
  expect(await found('n s')).toEqual(['ann.smith'])
  expect(await found('jones')).toEqual(['bob_1'])
  expect(await found('bob_1')).toEqual(['bob_1'])
  expect(await found('100%')).toEqual(['bob_1'])
  expect(await found('%')).toEqual(['bob_1'])
  expect(await found('_')).toEqual(['bob_1'])
  expect(await found('\\')).toEqual(['back'])
  expect(await found('k\\s')).toEqual(['back'])
  expect(await found('51123')).toEqual([''])
  expect(await found('b')).toEqual(['back', 'bob_1', 'bobx1'])
  expect(await found('bo')).toEqual(['bob_1', 'bobx1'])
  expect(await found('😀')).toEqual([])
  expect(await found("' or true --")).toEqual([])
})

test('an address or number is found exactly, however it is written', async () => {
  const [email, phone] = [`exact-${fresh()}`, freshPhone()]
  await create({ email, phone, aud: 'exact' })
  await create({ email: `x${email}`, aud: 'exact' })
  for (const query of [
    `email=${encodeURIComponent(` ${email.toUpperCase()}`)}`,
    `phone=%2B${phone}`,
    `phone=${phone}`,
    `email=${email}&phone=${phone}`,
    `email=${email}&limit=1`,
    `email=${email}&page=1&per_page=1`,
  ])
    expect(emails(await list(`?${query}`, 'exact'))).toEqual([email])
  expect((await list(`?email=${email}`, 'exact')).headers['x-total-count']).toBe('1')
  expect(emails(await list(`?email=${email}&page=2`, 'exact'))).toEqual([])
  expect(emails(await list(`?email=${email}&phone=4915100000000`, 'exact'))).toEqual([])
  expect(emails(await list(`?email=${email}`, 'authenticated'))).toEqual([])
})

test('people of single sign-on who share an address are all found, also page by page', async () => {
  await service.app.db`
    insert into auth.users (id, aud, email, is_sso_user) select gen_random_uuid(), 'shared', 'one@shared.test', n > 1 from generate_series(1, 5) n`
  expect((await list('?email=one@shared.test', 'shared')).headers['x-total-count']).toBe('5')
  expect((await walk('limit=2&email=one@shared.test', 'shared')).map((page) => page.length)).toEqual([2, 2, 1])
})

test('a name of half a megabyte is kept, and found by how it begins', async () => {
  const name = `Longest ${'x'.repeat(500_000)}`
  expect((await create({ email: fresh(), aud: 'long', user_metadata: { full_name: name } })).status).toBe(200)
  const answer = await list('?filter=longest', 'long')
  expect(answer.json()).toMatchObject({ users: [{ user_metadata: { full_name: name } }] })
})

test('accounts of an older installation, with nothing where there is a text today, are listed', async () => {
  await service.app.db`insert into auth.users (id, aud) values (gen_random_uuid(), 'bare')`
  expect((await list('', 'bare')).json()).toMatchObject({
    users: [{ email: '', phone: '', role: '', user_metadata: {}, identities: null }],
  })
})

test('headers that come twice are one value or the first of two, and never a surprise', async () => {
  const authorization = adminAuthorization(service)
  const twice = (name: string, one: string, other: string) => `${name}: ${one}\r\n${name}: ${other}\r\n`
  const ask = (headers: string) =>
    say(service.origin, `GET /admin/users HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`)
  const key = `Authorization: ${authorization}\r\n`
  expect(await ask(key + twice('X-JWT-AUD', 'a', 'b'))).toMatch(/^HTTP\/1\.1 200 [\s\S]*"aud":"a, b"/)
  expect(await ask(twice('Authorization', authorization, 'Bearer x'))).toMatch(/^HTTP\/1\.1 200 /)
  expect(await ask(twice('Authorization', 'Bearer x', authorization))).toMatch(/^HTTP\/1\.1 403 /)
})
