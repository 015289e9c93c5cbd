import { randomUUID } from 'node:crypto'
import type { Tx } from '@tollgate/kit/db'
import type { App } from '../app.ts'
import { fail } from '../errors.ts'
import type { Profile } from '../providers/provider.ts'
import { chosenEmail, identityData } from '../rules/identity-data.ts'
import { decideAccount } from '../rules/linking.ts'
import { clearUnproved, findIdentityOwner, listAddressOwners, setIdentity } from '../store/external.ts'
import { insertIdentity } from '../store/identities.ts'
import {
  actorOf,
  confirmEmail,
  contactIsTaken,
  findUser,
  insertUser,
  lockUser,
  mergeMetadata,
  refreshProviders,
  type User,
} from '../store/users.ts'
import { noteAudit } from './note-audit.ts'
import { notifyUser } from './notify-user.ts'
import { isWelcome } from './sign-up.ts'

export type Arrival = {
  provider: string
  profile: Profile
  aud: string
  address: string | null
  /** Whether an account may be without an address. */
  emailOptional: boolean
}

/** `unproved`: the account is there, and nobody vouches for its address yet. */
export type Arrived = { user: User; unproved: boolean }

const mostTries = 3

/** The account of somebody whom a provider has told us about: theirs, linked, or new. */
export async function signInExternal(app: App, arrival: Arrival, tries = 1): Promise<Arrived> {
  const arrived = await app.db
    .begin((tx) => arrive(app, tx, arrival))
    .catch((problem: unknown) => {
      if (problem instanceof Overtaken && tries < mostTries) return undefined
      throw problem
    })
  return arrived ?? signInExternal(app, arrival, tries + 1)
}

/** Somebody else came with the same identity or address at the same moment: what was decided does not hold any more. */
class Overtaken extends Error {}

async function arrive(app: App, tx: Tx, arrival: Arrival): Promise<Arrived> {
  const { provider, profile, aud, address, emailOptional } = arrival
  const { subject } = profile
  const email = chosenEmail(profile)
  const { mailer } = app.config.smtp
  if (!email && !emailOptional) throw fail('unexpected_failure', { message: 'Error getting user email from external provider' })
  const vouched = profile.emails.filter(({ verified }) => verified || mailer.autoconfirm).map((each) => each.email)
  const decision = decideAccount({
    identityOwner: await findIdentityOwner(tx, provider, subject),
    addressOwners: await listAddressOwners(tx, vouched, aud),
    addressTaken: email !== undefined && (await contactIsTaken(tx, { email: email.email }, null)),
    policy: app.config.security.linking,
  })
  if (decision.outcome === 'ambiguous')
    throw fail('email_exists', {
      message: 'Several accounts have an address of this one: sign in to one of them and link it there',
    })

  const created = decision.outcome === 'create' ? await create(app, tx, arrival, decision.withEmail) : undefined
  const userId = created ?? (decision as { userId: string }).userId
  const data = identityData(profile)
  const now = app.now()
  if (decision.outcome === 'enter') await setIdentity(tx, { provider, subject, userId, data, now })
  else if (!(await insertIdentity(tx, { provider, providerId: subject, userId, identityData: data, now }))) throw new Overtaken()

  const found = await lockUser(tx, userId)
  if (!found) throw new Overtaken()
  if (!isWelcome(app, found)) throw fail('user_banned')
  const note = (action: 'user_signedup' | 'login' | 'identity_linked') =>
    noteAudit(app, tx, { action, actor: actorOf(found), traits: { provider } }, address)

  const proves = found.email !== '' && vouched.includes(found.email)
  const unproved = found.email !== '' && !found.emailConfirmedAt && !proves
  // Whatever was laid into the account before anybody proved that it is theirs is gone when somebody does.
  if (proves && !found.emailConfirmedAt && !created) await clearUnproved(tx, userId, { provider, subject })
  if (decision.outcome === 'link') {
    await note('identity_linked')
    await notifyUser(app, tx, found, { kind: 'identity_linked_notification', facts: { provider } })
  }
  await mergeMetadata(tx, userId, { user: data, now })
  await refreshProviders(tx, userId)
  if (proves && !found.emailConfirmedAt) await confirmEmail(tx, userId, now)
  await note(found.emailConfirmedAt || decision.outcome === 'enter' ? 'login' : 'user_signedup')
  return { user: (await findUser(tx, userId)) as User, unproved }
}

async function create(app: App, tx: Tx, { provider, profile, aud }: Arrival, withEmail: boolean): Promise<string> {
  const { config } = app
  if (config.disableSignup) throw fail('signup_disabled')
  const id = randomUUID()
  const email = withEmail ? chosenEmail(profile)?.email : undefined
  const inserted = await insertUser(tx, {
    id,
    aud,
    role: config.jwt.defaultGroup,
    email: email ?? null,
    phone: null,
    // Whoever comes in this way has chosen to have none.
    passwordHash: '',
    emailConfirmedAt: null,
    phoneConfirmedAt: null,
    appMetadata: { provider, providers: [provider] },
    userMetadata: {},
    isAnonymous: false,
    createdAt: app.now(),
    identities: [],
  })
  if (!inserted) throw new Overtaken()
  return id
}
