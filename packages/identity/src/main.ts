import type { Service } from '@tollgate/kit/service'
import type { App } from './app.ts'
import { type Config, settings } from './config.ts'
import { failureTable } from './errors.ts'
import { migrations } from './migrations.ts'
import { endpoints, failureShape, manner } from './server.ts'

export const identity: Service<Config, App> = {
  name: 'identity',
  title: 'Tollgate Identity',
  description: 'Sign-up, sign-in, tokens and sessions. Clients made for Supabase Auth work unchanged.',
  schema: 'auth',
  settings,
  migrations,
  endpoints,
  failures: failureTable,
  failureShape: () => failureShape,
  failureNotes: `A refusal is \`{"code": <status>, "error_code": "<code>", "msg": "<message>"}\`, with \`error_id\` (the request's id) from 500 up. A request
with the header \`X-Supabase-Api-Version: 2024-01-01\` or later gets \`{"code": "<code>", "message": "<message>"}\` instead. The header
\`x-sb-error-code\` carries the code in both cases.`,
  bodyTypes: ['application/json'],
  versionAttribute: 'auth.version',
  manner,
  open: (parts) => parts,
}
