import type { Secret } from '@tollgate/kit/secret'
import type { App } from '../app.ts'
import { fail } from '../errors.ts'

/** What a token of the vault stands for; the path tells the caller which of their tokens is refused. */
export function openToken(app: App, type: 'pcn' | 'applepay' | 'googlepay', token: string, path: string): Secret {
  const opened = app.vault.open(type, token, app.now())
  if (opened === 'invalid') throw badToken(path)
  if (opened === 'other type') throw otherToken(path)
  return opened
}

/** A security code stays closed until the payment is made. */
export function readCodeToken(app: App, token: string, path: string): { id: Buffer; token: string } {
  const read = app.vault.readCode(token, app.now())
  if (read === 'invalid') throw badToken(path)
  if (read === 'other type') throw otherToken(path)
  return { id: read.id, token }
}

export function badToken(path: string) {
  return fail('TOKEN_INVALID', { message: `The token for \`${path}\` is invalid`, more: { path } })
}

function otherToken(path: string) {
  return fail('TOKEN_TYPE_UNEXPECTED', { message: `The token for \`${path}\` is not of the right type`, more: { path } })
}
