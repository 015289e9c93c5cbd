import { ConfigProblem } from '@tollgate/kit/env'
import { createKeys, KeyProblem, type Keys } from '@tollgate/kit/jwt'
import type { Service } from '@tollgate/kit/service'
import type { App } from './app.ts'
import { type Config, settings } from './config.ts'
import { failureTable } from './errors.ts'
import { migrations } from './migrations.ts'
import { derivationKey } from './rules/refresh-token.ts'
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
  open(parts) {
    const { jwt } = parts.config
    return { ...parts, keys: openKeys(jwt), refreshKey: derivationKey(jwt.secret) }
  },
}

/** What is wrong between several settings shows only when the keys are put together. */
function openKeys({ secret, keyId, keys }: Config['jwt']): Keys {
  try {
    return createKeys({ secret, keyId, jwks: keys?.reveal() })
  } catch (problem) {
    if (!(problem instanceof KeyProblem)) throw problem
    throw new ConfigProblem([`AUTH_JWT_KEYS, AUTH_JWT_SECRET and AUTH_JWT_KEY_ID cannot be used together: ${problem.message}.`])
  }
}
