import type { Fetch } from '@tollgate/kit/fetch'
import type { Log } from '@tollgate/kit/log'
import type { Acquirer } from './acquirer.ts'
import type { AcquirerSettings } from './acquirer-settings.ts'
import { clearhaus } from './clearhaus.ts'

/** The acquirer of live merchants, where one is configured. */
export function openAcquirer(
  { name, clearhaus: told }: AcquirerSettings,
  parts: { fetch: Fetch; log: Log },
): Acquirer | undefined {
  const { base, apiKey, signingKeyId, signingKey, timeout } = told
  // Whoever chose it without telling all of these was stopped by the reader of the settings.
  if (name === 'none' || !apiKey || !signingKeyId || !signingKey) return undefined
  return clearhaus({ base, apiKey, signingKeyId, signingKey, timeout }, parts)
}
