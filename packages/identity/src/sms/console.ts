import { gateway } from './gateway.ts'

type Reply = { id?: unknown; code?: unknown; message?: unknown }

/** For development: the development inbox takes the message, and nobody's telephone rings. */
export const console = gateway({
  name: 'console',
  credentials: {},
  wire: {
    base: 'http://127.0.0.1:8080',

    request: (_credentials, { to, text }) => ({ path: '/sms', form: { to, text } }),

    outcome({ id, code, message }: Reply) {
      return typeof id === 'string' ? { id } : { refused: { code, reason: message } }
    },
  },
})
