import type { Read } from '@tollgate/kit/env'

/** Which parts of the service may stand at the root of a host name of their own. */
const parts = ['/vault', '/applepay', '/googlepay', '/pos'] as const

/** Where the customers of merchants come to pay. */
export function customerSettings(read: Read) {
  return read.group('Customers', () => {
    const externalUrl = read.url(
      'API_EXTERNAL_URL',
      'http://localhost:8082',
      'The address under which the devices of customers reach this service',
    )
    return {
      externalUrl,
      posUrl:
        read.url('POS_URL', undefined, 'The address of the hosted page, which payment links begin with', {
          shown: 'PAY_API_EXTERNAL_URL/pos',
        }) ?? `${externalUrl}/pos`,
      hosts: read.parsed(
        'list',
        'HOSTS',
        new Map<string, string>(),
        `Host names that have part of this service at their root, as host=/part; the parts are ${parts.join(' ')}`,
        parseHosts,
        { example: 'vault.example.com=/vault,pos.example.com=/pos' },
      ),
      gateway: read.flag(
        'GATEWAY_ENABLED',
        true,
        'Take the calls of old integrations that send card numbers and security codes with the payment: POST /transactions and POST /cards',
      ),
      patience: read.seconds('PAYMENT_EXP', 1200, 'How long a customer may take from the first step of a payment to the last', {
        min: 60,
        max: 86_400,
      }),
    }
  })
}

function parseHosts(text: string): ReadonlyMap<string, string> | { expected: string } {
  const pairs = text.split(',').map((pair) => pair.trim().split('='))
  const fits = pairs.every(
    ([host = '', part = '', ...rest]) => /^[a-z0-9.-]+$/i.test(host) && parts.some((each) => each === part) && rest.length === 0,
  )
  return fits
    ? new Map(pairs.map(([host = '', part = '']) => [host.toLowerCase(), part]))
    : { expected: `pairs of a host name and one of ${parts.join(', ')}` }
}
