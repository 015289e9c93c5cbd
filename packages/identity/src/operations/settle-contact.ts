import { codeOf, type Tx } from '@tollgate/kit/db'
import type { App } from '../app.ts'
import { fail } from '../errors.ts'
import { putOwnIdentity } from '../store/identities.ts'
import { refreshProviders, setEmail, setPhone, type User } from '../store/users.ts'
import { notifyUser } from './notify-user.ts'

/** An account has a new address, which is proved, or which nobody has to prove; its owner is told at the old one. */
export async function settleEmail(app: App, tx: Tx, user: User, email: string): Promise<void> {
  const now = app.now()
  await orTaken('email_exists', setEmail(tx, user.id, email, { confirmed: true, now }))
  await putOwnIdentity(tx, user.id, { provider: 'email', data: { email, email_verified: true }, now })
  await refreshProviders(tx, user.id)
  await notifyUser(app, tx, user, { kind: 'email_changed_notification', facts: { oldEmail: user.email, email } })
}

/** The same for a number. */
export async function settlePhone(app: App, tx: Tx, user: User, phone: string): Promise<void> {
  const now = app.now()
  await orTaken('phone_exists', setPhone(tx, user.id, phone, { confirmed: true, now }))
  await putOwnIdentity(tx, user.id, { provider: 'phone', data: { phone, phone_verified: true }, now })
  await refreshProviders(tx, user.id)
  await notifyUser(app, tx, user, { kind: 'phone_changed_notification', facts: { oldPhone: user.phone, phone } })
}

/** Somebody else may have taken the address or number since anybody looked. */
export async function orTaken(code: 'email_exists' | 'phone_exists', change: Promise<void>): Promise<void> {
  await change.catch((problem: unknown) => {
    throw codeOf(problem) === '23505' ? fail(code) : problem
  })
}
