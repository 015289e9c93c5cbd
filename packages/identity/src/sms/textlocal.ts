import { gateway } from './gateway.ts'

type Reply = {
  status?: unknown
  batch_id?: unknown
  messages?: { id?: unknown }[]
  errors?: { code?: unknown; message?: unknown }[]
}

/** https://api.textlocal.in/docs/sendsms */
export const textlocal = gateway({
  name: 'textlocal',
  credentials: { API_KEY: 'The API key', SENDER: 'The sender' },
  wire: {
    base: 'https://api.textlocal.in',

    request: ({ API_KEY, SENDER }, { to, text }) => ({
      path: '/send',
      form: { sender: SENDER, apikey: API_KEY, message: text, numbers: to },
    }),

    outcome({ status, batch_id, messages, errors }: Reply) {
      if (status === 'success') return { id: messages?.[0]?.id ?? batch_id }
      return { refused: { code: errors?.[0]?.code, reason: errors?.[0]?.message } }
    },
  },
})
