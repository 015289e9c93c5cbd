/**
 * `forbidden`: an address that we do not speak to. `unreachable`: nobody was there, and nothing was sent. `timeout`, `broken`:
 * the other side may or may not have done what it was asked. The rest are answers that one cannot go on with.
 */
export type TroubleKind = 'forbidden' | 'unreachable' | 'timeout' | 'broken' | 'too-large' | 'nonsense' | 'status'

/** An outsider did not do its part. The message names who was asked and what came of it, never a header or a body. */
export class OutsideTrouble extends Error {
  readonly kind: TroubleKind
  /** What came of it: the message without who was asked. */
  readonly what: string
  readonly status: number | undefined

  constructor(kind: TroubleKind, asked: string, what: string, status?: number) {
    super(`${asked} ${what}`)
    this.kind = kind
    this.what = what
    this.status = status
  }
}

/** Thrown where connections are made, which knows neither who asked nor what for. */
export class ForbiddenAddress extends Error {}

const neverConnected = new Set<unknown>([
  ...['ECONNREFUSED', 'ENOTFOUND', 'ENODATA', 'EAI_AGAIN', 'EAI_FAIL', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'],
  'UND_ERR_CONNECT_TIMEOUT',
])

/** The library's own errors may carry what was sent and received, so that nothing but their code or name is taken over. */
export function troubleOf(problem: unknown, asked: string): OutsideTrouble {
  if (problem instanceof OutsideTrouble) return problem
  if (problem instanceof ForbiddenAddress) return new OutsideTrouble('forbidden', asked, 'is not at a public address')
  const { code, name } = problem as { code?: unknown; name?: unknown }
  const known = [code, name].find((word) => typeof word === 'string' && /^\w{1,64}$/.test(word)) ?? 'unknown reason'
  if (neverConnected.has(known)) return new OutsideTrouble('unreachable', asked, `could not be reached (${known})`)
  return new OutsideTrouble('broken', asked, `broke off (${known})`)
}
