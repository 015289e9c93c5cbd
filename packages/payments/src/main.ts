import { createIds } from '@tollgate/kit/id'
import type { Service } from '@tollgate/kit/service'
import type { App } from './app.ts'
import { type Config, settings } from './config.ts'
import { failureTable } from './errors.ts'
import { migrations } from './migrations.ts'
import { endpoints, failureShape, manner } from './server.ts'

export const payments: Service<Config, App> = {
  name: 'payments',
  title: 'Tollgate Payments',
  description:
    'Apps, merchants, transactions and what becomes of them. Clients and shop plugins made for Paylike work unchanged.',
  schema: 'pay',
  settings,
  migrations,
  endpoints,
  failures: failureTable,
  failureShape,
  failureNotes: `A 400 is a list of fields, \`[{"field": "company.country", "message": "Required"}]\`. Every other refusal is
\`{"code": "<code>", "message": "<message>"}\` for callers whose \`Accept\` admits \`application/json\` (\`*/*\` does), and has no body for those
that send none or \`application/vnd.api+json\`: the old clients cannot read one.`,
  bodyTypes: ['application/json', 'application/x-www-form-urlencoded'],
  versionAttribute: 'pay.version',
  manner,
  open: ({ metrics: _, ...parts }) => ({ ...parts, mintId: createIds(parts.now) }),
}
