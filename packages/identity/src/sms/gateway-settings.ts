import type { Read } from '@tollgate/kit/env'
import type { Secret } from '@tollgate/kit/secret'
import type { Gateway } from './gateway.ts'

/** The settings that a gateway brings along. */
export function gatewaySettings(read: Read, gateway: Gateway, chosen: string | undefined) {
  const block = `SMS_${gateway.name.toUpperCase()}`
  const required = { when: gateway.name === chosen, because: `AUTH_SMS_PROVIDER is ${gateway.name}` }
  const told = (names: Readonly<Record<string, string>>, options: Parameters<typeof read.secret>[2]) =>
    Object.entries(names).map(([name, sentence]) => [
      name,
      read.secret(`${block}_${name}`, `${sentence}, at ${gateway.name}`, options),
    ])
  const credentials: Record<string, Secret | undefined> = Object.fromEntries([
    ...told(gateway.credentials, { required }),
    ...told(gateway.options ?? {}, {}),
  ])
  return { credentials, base: read.url(`${block}_URL`, gateway.wire.base, `The address of ${gateway.name}`) }
}
