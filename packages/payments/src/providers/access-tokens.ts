import type { Clock } from '@tollgate/kit/clock'
import { Unavailable } from '@tollgate/kit/failure'
import type { Fetch } from '@tollgate/kit/fetch'
import { type Claims, createVerifier, KeyProblem, readPublishedKeys, type Verifier, type VerifyingKey } from '@tollgate/kit/jwt'
import type { Log } from '@tollgate/kit/log'
import type { Secret } from '@tollgate/kit/secret'

/** What the identity service signs with, as far as we know. */
export type AccessTokens = {
  /** Whether there is anything to verify a token with. */
  readonly accepted: boolean
  /** What the token says. Throws a `TokenProblem`, or an `Unavailable` when it may be signed with a key that cannot be had just now. */
  verify(token: string): Promise<Claims>
}

type Settings = {
  secret: Secret | undefined
  keys: Secret<readonly VerifyingKey[]> | undefined
  keysUrl: string | undefined
}

/** How soon the keys may be asked for again, however many tokens name keys that nobody knows. */
const pause = 10_000
/** After how long they are asked for again although nothing is missing, so that a withdrawn key is not believed for ever. */
const lifetime = 10 * 60_000

/** Verifies the access tokens of the identity service. */
export function createAccessTokens(
  { secret, keys, keysUrl }: Settings,
  { fetch, now, log }: { fetch: Fetch; now: Clock; log: Log },
): AccessTokens {
  const own = keys?.reveal() ?? []
  let verifier: Verifier = createVerifier({ secret, keys: own })
  let askedAt = Number.NEGATIVE_INFINITY
  let trouble: unknown
  let asking: Promise<void> | undefined

  async function ask(url: string): Promise<void> {
    try {
      const published = await readKeys(fetch, url)
      // Our own come last, and so cannot be replaced by what stands at an address.
      verifier = createVerifier({ secret, keys: [...published, ...own] })
      if (trouble !== undefined) log.info({ keys: url }, 'the keys of the identity service can be read again')
      trouble = undefined
    } catch (problem) {
      // What is known already stays in force: an outage there must sign nobody out here.
      if (trouble === undefined) log.error({ keys: url, error: problem }, 'the keys of the identity service cannot be read')
      trouble = problem
    }
  }

  /** Whoever comes while the keys are being read waits for the same answer. */
  function refresh(url: string): Promise<void> {
    askedAt = now().getTime()
    asking ??= ask(url).finally(() => {
      asking = undefined
    })
    return asking
  }

  async function findKeyOf(token: string, url: string): Promise<void> {
    const age = now().getTime() - askedAt
    if (!verifier.lacksKeyOf(token)) {
      // Nobody has to wait for what is probably the same as before.
      if (age >= lifetime) void refresh(url)
      return
    }
    if (asking || age >= pause) await (asking ?? refresh(url))
    if (trouble !== undefined && verifier.lacksKeyOf(token))
      throw new Unavailable('the keys of the identity service cannot be read', { cause: trouble })
  }

  return {
    accepted: secret !== undefined || own.length > 0 || keysUrl !== undefined,
    async verify(token) {
      if (keysUrl !== undefined) await findKeyOf(token, keysUrl)
      return verifier.verify(token, now())
    },
  }
}

async function readKeys(fetch: Fetch, url: string): Promise<readonly VerifyingKey[]> {
  const answer = await fetch(url, { headers: { accept: 'application/json' }, limit: 256 * 1024 })
  if (answer.status !== 200) throw answer.trouble()
  const keys = readPublishedKeys(answer.json())
  if (keys.length === 0) throw new KeyProblem('none of the published keys can be used')
  return keys
}
