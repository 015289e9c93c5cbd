import { createHash, timingSafeEqual } from 'node:crypto'
import type { Clock } from '@tollgate/kit/clock'
import { type Fetch, OutsideTrouble } from '@tollgate/kit/fetch'
import type { Log } from '@tollgate/kit/log'
import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWK,
  jwtVerify,
  type ProtectedHeaderParameters,
} from 'jose'
import type { Claims } from './provider.ts'

/** What can be wrong with a token, in words for whoever brought it. */
const wordings = {
  malformed: 'The ID token is not a JWT that can be understood',
  algorithm: 'The ID token is not signed in a way that is accepted',
  issuer: 'The ID token comes from an issuer that is not accepted',
  key: 'The ID token is signed with a key that its issuer does not have',
  signature: 'The ID token has a wrong signature',
  audience: 'The ID token was issued to another application',
  time: 'The ID token has expired, or is not valid yet, or does not say when it is',
  subject: 'The ID token does not say who it is about',
  nonce: 'The ID token has another nonce than was expected',
  'access-token': 'The access token is not the one that the ID token was issued with',
}

type IdTokenFault = keyof typeof wordings

/** An id token that is not to be believed. The message can be told to whoever brought it, and quotes nothing of it. */
export class IdTokenProblem extends Error {
  readonly fault: IdTokenFault

  constructor(fault: IdTokenFault) {
    super(wordings[fault])
    this.fault = fault
  }
}

export type Expected = {
  /** Who may have issued it. `{tenantid}` stands for the tenant that its `tid` names. */
  issuers: readonly string[]
  /** Our own client ids. */
  audiences: readonly string[]
  /** Where the keys are; discovered from the issuer where left out. */
  keysUrl?: string | undefined
  /** What its nonce must be; not looked at where left out. */
  nonce?: string | undefined
  /** What came with it: must be the one that it was issued with, where it tells. */
  accessToken?: string | undefined
}

export type IdTokens = {
  /** What the token says. Throws an `IdTokenProblem`, or an `OutsideTrouble` when its issuer's keys cannot be had. */
  verify(token: string, expected: Expected): Promise<Claims>
}

/** Never `none`, and never HMAC, for which the issuer's public key could be taken as the secret. */
const algorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA'.split(' ')

const longestToken = 16 * 1024
/** Seconds by which our clock and theirs may differ. */
const leeway = 60

type KeySet = { find: ReturnType<typeof createLocalJWKSet>; keys: readonly Claims[] }

type IdTokenSettings = {
  /** Decides what may be spoken to when keys are asked for. */
  fetch: Fetch
  now: Clock
  log: Log
  /** Whether keys may be read without TLS: for issuers on this machine and in private networks. */
  allowHttp?: boolean
}

/** Verifies the id tokens of other issuers. */
export function createIdTokens({ fetch, now, log, allowHttp = false }: IdTokenSettings): IdTokens {
  const readJson = async (url: string) => {
    const { protocol, host, pathname } = URL.parse(url) ?? {}
    if (protocol !== 'https:' && !allowHttp)
      throw new OutsideTrouble('forbidden', `${host ?? 'an issuer'}: GET ${pathname ?? ''}`, 'is not https')
    const answer = await fetch(url, { headers: { accept: 'application/json' }, limit: 256 * 1024 })
    if (answer.status !== 200) throw answer.trouble()
    const nonsense = (what: string) => new OutsideTrouble('nonsense', `${host}: GET ${pathname}`, what)
    return { json: answer.json<unknown>(), nonsense }
  }

  /** https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig */
  const discoveries = createMemory(now, async (issuer) => {
    const { json, nonsense } = await readJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
    const { issuer: told, jwks_uri } = (json ?? {}) as Claims
    // One issuer must not speak for another, or it could sign for its people.
    if (told !== issuer) throw nonsense('speaks for another issuer')
    if (typeof jwks_uri !== 'string') throw nonsense('does not tell where its keys are')
    return jwks_uri
  })

  const keySets = createMemory(now, async (url): Promise<KeySet> => {
    const { json, nonsense } = await readJson(url)
    try {
      const find = createLocalJWKSet(json as { keys: JWK[] })
      const keys = find.jwks().keys.map((key) => ({ ...key }))
      log.info({ keys: url, count: keys.length }, 'the keys of an issuer were read')
      return { find, keys }
    } catch {
      throw nonsense('answered with something that is no key set')
    }
  })

  return {
    async verify(token, expected) {
      const { header, claimed } = peek(token)
      const { issuer, ofManyTenants } = issuerOf(claimed, expected.issuers)
      if (ofManyTenants && expected.keysUrl === undefined)
        throw new TypeError('Issuers of many tenants need the address of their keys')

      const keysUrl = expected.keysUrl ?? (await discoveries.recall(issuer))
      const check = async (set: KeySet) => {
        const { payload } = await jwtVerify(token, set.find, {
          algorithms,
          issuer,
          audience: expected.audiences.filter((audience) => audience !== ''),
          requiredClaims: ['exp', 'iat', 'sub'],
          clockTolerance: leeway,
          currentDate: now(),
        })
        if (ofManyTenants) checkOwner(set, header, payload)
        return payload
      }
      const claims = await check(await keySets.recall(keysUrl))
        .catch(async (problem) => {
          if (!mayBeRotated(problem, header)) throw problem
          return await check(await keySets.recallAnew(keysUrl))
        })
        .catch((problem) => {
          throw problemOf(problem, keysUrl)
        })
      checkClaims(claims, expected, now())
      const { accessToken } = expected
      if (accessToken !== undefined && !accessTokenHashMatches(claims, accessToken, String(header.alg))) {
        throw new IdTokenProblem('access-token')
      }
      return claims
    },
  }
}

/**
 * Whether an access token is the one that an id token was issued with: https://openid.net/specs/openid-connect-core-1_0.html#CodeIDToken.
 * One that tells of none goes with any.
 */
export function accessTokenHashMatches(claims: Claims, accessToken: string, alg: string): boolean {
  if (claims.at_hash === undefined) return true
  const bits = alg === 'EdDSA' ? '512' : /(256|384|512)$/.exec(alg)?.[0]
  if (bits === undefined || typeof claims.at_hash !== 'string') return false
  const digest = createHash(`sha${bits}`).update(accessToken).digest()
  return sameText(claims.at_hash, digest.subarray(0, digest.length / 2).toString('base64url'))
}

/** What a token says of itself, before any of it is believed: enough to know whose keys to ask for. */
function peek(token: string): { header: ProtectedHeaderParameters; claimed: Claims } {
  if (token.length > longestToken) throw new IdTokenProblem('malformed')
  const peeked = decode(token)
  if (!algorithms.includes(String(peeked.header.alg))) throw new IdTokenProblem('algorithm')
  return peeked
}

function decode(token: string) {
  try {
    return { header: decodeProtectedHeader(token), claimed: decodeJwt(token) as Claims }
  } catch {
    throw new IdTokenProblem('malformed')
  }
}

/** The expected issuer that a token names. Only then is anybody asked for keys, so that a token cannot send us anywhere. */
function issuerOf(claims: Claims, issuers: readonly string[]): { issuer: string; ofManyTenants: boolean } {
  const pattern = issuers.find((issuer) => ofTenant(issuer, claims) === claims.iss)
  if (pattern === undefined) throw new IdTokenProblem('issuer')
  return { issuer: String(claims.iss), ofManyTenants: pattern.includes(anyTenant) }
}

const anyTenant = '{tenantid}'

function ofTenant(issuer: string, { tid }: Claims): string | undefined {
  if (!issuer.includes(anyTenant)) return issuer
  // One segment of a path, and nothing that could be more.
  return typeof tid === 'string' && /^[\w-]{1,64}$/.test(tid) ? issuer.replace(anyTenant, tid) : undefined
}

/**
 * Where tenants share a key set, a key may be for the tokens of one of them alone:
 * https://learn.microsoft.com/en-us/entra/identity-platform/access-tokens#validate-the-signing-key-issuer
 */
function checkOwner({ keys }: KeySet, { kid }: ProtectedHeaderParameters, claims: Claims) {
  const owners = keys.filter((key) => key.kid === kid && key.issuer !== undefined).map(({ issuer }) => issuer)
  if (owners.some((owner) => typeof owner !== 'string' || ofTenant(owner, claims) !== claims.iss)) {
    throw new IdTokenProblem('key')
  }
}

/** Whether newer keys could make a difference. A token that names no key can only be tried. */
function mayBeRotated(problem: unknown, { kid }: ProtectedHeaderParameters): boolean {
  if (problem instanceof errors.JWKSNoMatchingKey) return true
  return problem instanceof errors.JWSSignatureVerificationFailed && kid === undefined
}

function checkClaims({ sub, iat, aud, azp, nonce }: Claims, expected: Expected, now: Date) {
  if (typeof sub !== 'string' || sub.trim() === '' || sub.length > 255) throw new IdTokenProblem('subject')
  if (Number(iat) > now.getTime() / 1000 + leeway) throw new IdTokenProblem('time')
  // A token for several is ours only if it was issued to us: otherwise any of the others could sign in here with theirs.
  const forSeveral = Array.isArray(aud) && aud.length > 1
  if (forSeveral && !(typeof azp === 'string' && expected.audiences.includes(azp))) throw new IdTokenProblem('audience')
  if (expected.nonce === undefined) return
  if (typeof nonce !== 'string' || !sameText(nonce, expected.nonce)) throw new IdTokenProblem('nonce')
}

const faultOfClaim: Readonly<Record<string, IdTokenFault>> = { iss: 'issuer', aud: 'audience', sub: 'subject' }

/** What the library found, in our words: its own quote the token. */
function problemOf(problem: unknown, keysUrl: string): Error {
  if (problem instanceof IdTokenProblem || problem instanceof OutsideTrouble) return problem
  if (problem instanceof errors.JWTExpired) return new IdTokenProblem('time')
  if (problem instanceof errors.JWTClaimValidationFailed) return new IdTokenProblem(faultOfClaim[problem.claim] ?? 'time')
  if (problem instanceof errors.JWSSignatureVerificationFailed) return new IdTokenProblem('signature')
  // A token that names no key where there are several is as good as one that names none of them.
  if (problem instanceof errors.JWKSNoMatchingKey || problem instanceof errors.JWKSMultipleMatchingKeys)
    return new IdTokenProblem('key')
  if (problem instanceof errors.JOSEError && !(problem instanceof errors.JWKSInvalid)) return new IdTokenProblem('malformed')
  // What else goes wrong is a key that cannot be used, because it is broken or too weak.
  return new OutsideTrouble('nonsense', `${URL.parse(keysUrl)?.host}: the key set`, 'has a key that cannot be used')
}

function sameText(one: string, other: string): boolean {
  const digest = (value: string) => createHash('sha256').update(value).digest()
  return timingSafeEqual(digest(one), digest(other))
}

const seconds = 1000
const lifetime = 3600 * seconds
/** How soon the same may be asked for anew, however many tokens name keys that nobody knows. */
const pause = 30 * seconds
/** How long a failure is believed, so that a flood of tokens is not passed on to an issuer in trouble. */
const failureLifetime = 5 * seconds
const mostAddresses = 200

type Remembered<Value> = { value: Promise<Value>; until: number; again: number; newer?: Promise<Value> }

/** What was read at an address, for an hour. Whoever comes while it is read waits for the same answer. */
function createMemory<Value>(now: Clock, read: (address: string) => Promise<Value>) {
  const memory = new Map<string, Remembered<Value>>()

  function ask(address: string): Promise<Value> {
    const moment = now().getTime()
    const entry = { value: read(address), until: moment + lifetime, again: moment + pause }
    entry.value.catch(() => {
      entry.until = now().getTime() + failureLifetime
    })
    memory.delete(address)
    memory.set(address, entry)
    for (const oldest of memory.keys()) if (memory.size > mostAddresses) memory.delete(oldest)
    return entry.value
  }

  const living = (address: string) => {
    const entry = memory.get(address)
    return entry && now().getTime() < entry.until ? entry : undefined
  }

  return {
    recall: (address: string): Promise<Value> => living(address)?.value ?? ask(address),

    /** As it is now, or was a moment ago. Until it is here, and if it does not come, others go on with what there was. */
    recallAnew(address: string): Promise<Value> {
      const entry = living(address)
      if (!entry) return ask(address)
      const moment = now().getTime()
      if (moment < entry.again) return entry.newer ?? entry.value
      const newer = read(address)
      Object.assign(entry, { newer, again: moment + pause })
      newer.then(
        () => Object.assign(entry, { value: newer, until: now().getTime() + lifetime }),
        () => {},
      )
      return newer
    },
  }
}
