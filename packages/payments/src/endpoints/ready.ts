import { anyone } from '@tollgate/kit/endpoint'
import { askReadiness, readyReply } from '@tollgate/kit/readiness'
import { endpoint } from '../app.ts'

export const ready = endpoint({
  method: 'GET',
  path: '/ready',
  summary: 'Tell whether requests should be sent here',
  description:
    'They should unless the database does not answer within a second, or the process is about to end. The database is asked once a second at most.',
  tag: 'About',
  caller: anyone,
  reply: readyReply,
  fails: [],
  quiet: true,

  run: askReadiness,
})
