import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { isPublic } from './public-address.ts'
import { ForbiddenAddress } from './trouble.ts'

export type Resolve = (host: string) => Promise<LookupAddress[]>

/**
 * Makes connections, to public addresses alone unless others are allowed. The check stands here, behind every name and every
 * spelling, because here the address that is checked is the address that is connected to: a name that answers differently
 * the next time gains nothing.
 */
export function guardedConnector({ allowPrivate, resolve }: { allowPrivate: boolean; resolve: Resolve }) {
  const allowed = (address: string) => allowPrivate || isPublic(address)

  const lookup: LookupFunction = (host, { all }, tell) => {
    resolve(host).then(
      (addresses) => {
        const [first] = addresses
        if (!first) return tell(Object.assign(new Error('No address'), { code: 'ENOTFOUND' }), '')
        // A name that leads outside and inside at once is nobody's honest name.
        if (!addresses.every(({ address }) => allowed(address))) return tell(new ForbiddenAddress(), '')
        return all ? tell(null, addresses) : tell(null, first.address, first.family)
      },
      (problem) => tell(problem, ''),
    )
  }

  const connect = buildConnector({ lookup, allowH2: false } as buildConnector.BuildOptions)
  const guarded: buildConnector.connector = (options, tell) => {
    // An address needs no look-up, so that the one above never sees it.
    if (isIP(options.hostname) && !allowed(options.hostname)) return tell(new ForbiddenAddress(), null)
    return connect(options, tell)
  }
  return guarded
}
