import { identity } from '@tollgate/identity/main'
import { signToken } from '@tollgate/kit/jwt'
import { Secret } from '@tollgate/kit/secret'
import { version } from '@tollgate/kit/version'
import { payments } from '@tollgate/payments/main'
import type { Facts } from '../welcome/facts.ts'
import type { DevSecrets } from './secrets.ts'
import { type devPorts, host } from './settings.ts'
import { offersTestProvider, testProviderName } from './test-client.ts'

type Given = {
  ports: ReturnType<typeof devPorts>
  secrets: DevSecrets
  jwtSecret: string
  customProviders: string | undefined
  /** The merchant of the demo shop. */
  merchantId: string
  database: string
  folder: string
}

/** Everything that a newcomer needs to make the first calls. */
export function tellFacts(given: Given): Facts {
  const identityUrl = `http://localhost:${given.ports.AUTH_API_PORT}`
  const paymentsUrl = `http://localhost:${given.ports.PAY_API_PORT}`
  const token = (role: string) =>
    signToken({ role, iss: 'tollgate', iat: 1_750_000_000, exp: 2_065_360_000 }, new Secret(given.jwtSecret))
  const service = ({ name, title }: { name: string; title: string }, url: string) => ({
    name,
    title,
    url,
    docs: `${url}/docs`,
    openapi: `${url}/openapi.json`,
  })
  return {
    version,
    services: [service(identity, identityUrl), service(payments, paymentsUrl)],
    keys: [
      {
        name: 'anon key',
        value: token('anon'),
        explanation: 'What a browser or phone client is created with: supabaseKey in createClient(url, key).',
      },
      {
        name: 'service_role key',
        value: token('service_role'),
        explanation: 'For your server: may call the admin endpoints of the identity service.',
      },
      { name: 'JWT secret', value: given.jwtSecret, explanation: 'What access tokens are signed with (AUTH_JWT_SECRET).' },
      {
        name: 'payments app key',
        value: given.secrets.app.key,
        explanation: 'The key of the development app: the password of HTTP Basic authentication.',
      },
    ],
    database: given.database,
    smtp: { host, port: given.ports.TOLLGATE_SMTP_PORT },
    sms: `http://localhost:${given.ports.TOLLGATE_PORT}/sms`,
    testSignIn: offersTestProvider(given.customProviders)
      ? `${identityUrl}/authorize?${new URLSearchParams({ provider: testProviderName, redirect_to: `http://localhost:${given.ports.TOLLGATE_PORT}/signed-in` })}`
      : undefined,
    firstSteps: [
      {
        title: 'Sign somebody up; the mail is in the inbox',
        command: `curl ${identityUrl}/signup -d '{"email":"ann@example.com","password":"correct horse"}'`,
      },
      { title: 'Ask the payments service who you are', command: `curl -u :${given.secrets.app.key} ${paymentsUrl}/me` },
      {
        title: 'See what the demo shop sold',
        command: `curl -u :${given.secrets.app.key} '${paymentsUrl}/merchants/${given.merchantId}/transactions?limit=3'`,
      },
      {
        title: 'Let a customer pay the demo shop with a test card',
        command: `curl -u :${given.secrets.app.key} ${paymentsUrl}/merchants/${given.merchantId}/simulator/payments -d 'currency=EUR&amount=2450'`,
      },
      { title: 'Create an app of your own', command: `curl ${paymentsUrl}/apps -d name=Shop` },
    ],
    dataFolder: given.folder,
  }
}

export function banner(facts: Facts, welcomePort: number, milliseconds: number): string {
  const rows = [
    ['Welcome page', `http://localhost:${welcomePort}`],
    ...facts.services.map(({ title, url }) => [title, url]),
    ['Inbox', `http://localhost:${welcomePort}/inbox`],
    ['Demo shop', `http://localhost:${welcomePort}/shop`],
  ]
  return `
  Tollgate ${facts.version} is ready after ${(milliseconds / 1000).toFixed(1)} s.

${rows.map(([name = '', address]) => `    ${name.padEnd(20)}${address}`).join('\n')}

  Data and keys are in ${facts.dataFolder}. Stop with Ctrl-C.
`
}
