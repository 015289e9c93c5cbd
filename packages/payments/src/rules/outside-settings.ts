import type { Read } from '@tollgate/kit/env'

/** How other services are asked. */
export function outsideSettings(read: Read) {
  return read.group('Other services', () => ({
    timeout: read.seconds('INTERNAL_HTTP_TIMEOUT', 10, 'How long other services may take to answer us', { min: 0.1, max: 60 }),
    allowPrivate: read.flag(
      'SECURITY_ALLOW_PRIVATE_ADDRESSES',
      false,
      'Let configured addresses of other services be on this machine or in a private network',
    ),
  }))
}
