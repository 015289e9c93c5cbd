import type { Caller } from '@tollgate/kit/endpoint'
import type { App } from './app.ts'
import { fail } from './errors.ts'
import { hashKey } from './rules/keys.ts'
import { type AppRow, findAppByKeyHash } from './store/apps.ts'

/** An app, which shows its key as the password of HTTP Basic authentication. The user name does not matter. */
export const app: Caller<App, AppRow> = {
  security: {
    name: 'appKey',
    scheme: { type: 'http', scheme: 'basic', description: 'the key of an app as Basic password, with an empty user name' },
  },
  fails: ['unauthorized'],
  async identify({ db }, { headers }) {
    const key = basicPassword(headers.authorization)
    const found = key === undefined ? undefined : await findAppByKeyHash(db, hashKey(key))
    if (!found)
      throw fail('unauthorized', { headers: { 'www-authenticate': 'Basic realm="Tollgate Payments", charset="UTF-8"' } })
    return found
  },
}

function basicPassword(authorization: string | undefined): string | undefined {
  const encoded = /^basic +([A-Za-z0-9+/_=-]+) *$/i.exec(authorization ?? '')?.[1]
  if (encoded === undefined) return undefined
  const [, password] = /^[^:]*:(.+)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? []
  return password
}
