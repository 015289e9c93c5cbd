import type { Caller } from '@tollgate/kit/endpoint'
import { randomTag } from '@tollgate/kit/id'
import { type Claims, TokenProblem } from '@tollgate/kit/jwt'
import type { App } from './app.ts'
import { fail } from './errors.ts'
import { hashKey } from './rules/keys.ts'
import { personOf } from './rules/person.ts'
import { type AppRow, findAppByKeyHash } from './store/apps.ts'
import { enterUser, findUserByEmail, type UserRow } from './store/users.ts'

/** Who is asking. Apps and people have the same rights on a merchant that they are members of. */
export type Who = {
  kind: 'app' | 'user'
  id: string
  name: string | null
  created: Date
  /** Of a person. */
  email?: string
  /** What an app has just shown, so that it may be shown to it again. */
  key?: string
}

/**
 * An app, which shows its key as the password of HTTP Basic authentication, whatever the user name; or a person, who shows an access token of
 * the identity service.
 */
export const identified: Caller<App, Who> = {
  security: {
    name: 'appKey',
    scheme: { type: 'http', scheme: 'basic', description: 'the key of an app as Basic password, with an empty user name' },
  },
  alternatives: [
    {
      name: 'accessToken',
      scheme: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: 'an access token of the identity service as Bearer token',
      },
    },
  ],
  fails: ['unauthorized'],
  async identify(app, { headers: { authorization = '' } }) {
    const token = /^bearer +([^\s]+) *$/i.exec(authorization)?.[1]
    if (token !== undefined) return { kind: 'user', ...(await identifyPerson(app, token)) }
    const key = basicPassword(authorization)
    const found = key === undefined ? undefined : await identifyApp(app, key)
    if (key === undefined || !found) throw fail('unauthorized', { headers: { 'www-authenticate': challenges } })
    return { kind: 'app', ...found, key }
  },
}

const realm = 'realm="Tollgate Payments"'
const challenges = `Basic ${realm}, charset="UTF-8", Bearer ${realm}`

function basicPassword(authorization: string): string | undefined {
  const encoded = /^basic +([A-Za-z0-9+/_=-]+) *$/i.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  const [, password] = /^[^:]*:(.+)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? []
  return password
}

/** An app never changes, so that once it was found it need not be looked for again. A key that nobody has may be somebody's tomorrow. */
async function identifyApp({ db, known }: App, key: string): Promise<AppRow | undefined> {
  const hash = hashKey(key)
  const name = hash.toString('base64')
  const before = known.apps.find(name)
  if (before) return before
  const found = await findAppByKeyHash(db, hash)
  if (found) known.apps.keep(name, found)
  return found
}

async function identifyPerson(app: App, token: string): Promise<UserRow> {
  const { db, known, now, mintId, config } = app
  const person = personOf(await readToken(app, token), config.people)
  if ('refused' in person) throw notAccepted(person.refused)
  const { email, name } = person
  // Whoever was invited before they ever came has no name yet, and one who has none may have given themselves one.
  const isKnown = (user: UserRow | undefined) => user !== undefined && (user.name !== null || name === null)
  const before = known.people.find(email)
  if (before && isKnown(before)) return before
  const found = await findUserByEmail(db, email)
  const user = found && isKnown(found) ? found : await enterUser(db, { id: mintId(randomTag()), email, name, created: now() })
  // Another process may have learned the name meanwhile.
  if (user.name !== null) known.people.keep(email, user)
  return user
}

async function readToken({ people }: App, token: string): Promise<Claims> {
  if (!people.accepted) {
    const settings = 'PAY_JWT_SECRET, PAY_JWT_KEYS or PAY_JWT_JWKS_URL'
    throw notAccepted(`none is here, for nothing is set to verify them with (${settings}); use the key of an app`)
  }
  try {
    return await people.verify(token)
  } catch (problem) {
    if (!(problem instanceof TokenProblem)) throw problem
    throw notAccepted(problem.message)
  }
}

/** https://www.rfc-editor.org/rfc/rfc6750#section-3.1 */
function notAccepted(reason: string) {
  return fail('unauthorized', {
    message: `The access token is not accepted: ${reason}`,
    headers: { 'www-authenticate': `${challenges}, error="invalid_token"` },
  })
}

/** The browser or phone of a customer. It tells nobody's name: what it may do follows from what it sends. */
export function device(version: number): Caller<App, undefined> {
  return {
    security: undefined,
    fails: ['VERSION_MISSING', 'VERSION_UNSUPPORTED', 'BODY_INVALID'],
    identify(_, { headers }) {
      const asked = headers['accept-version']
      if (asked === undefined || asked === '') throw fail('VERSION_MISSING')
      if (asked !== String(version)) throw fail('VERSION_UNSUPPORTED', { message: `Version ${version} is spoken here` })
      if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? ''))
        throw fail('BODY_INVALID', { message: 'Invalid request body: send it as application/json' })
      return undefined
    },
  }
}
