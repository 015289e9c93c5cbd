import { gateway } from './gateway.ts'

type Reply = { messages?: { status?: unknown; 'message-id'?: unknown; 'error-text'?: unknown }[] }

/** Too fast, an error of theirs, too many connections: https://developer.vonage.com/api-errors/sms */
const passing = new Set<unknown>(['1', '5', '10'])

/** https://developer.vonage.com/en/api/sms */
export const vonage = gateway({
  name: 'vonage',
  credentials: { API_KEY: 'The API key', API_SECRET: 'The API secret', FROM: 'The sender' },
  wire: {
    base: 'https://rest.nexmo.com',

    request: ({ API_KEY, API_SECRET, FROM }, { to, text }) => ({
      path: '/sms/json',
      form: {
        from: FROM,
        to,
        text,
        api_key: API_KEY,
        api_secret: API_SECRET,
        // Without it, whatever an old telephone cannot show arrives as question marks.
        ...(isAscii(text) ? {} : { type: 'unicode' }),
      },
    }),

    outcome({ messages }: Reply) {
      const message = messages?.[0]
      if (message?.status === '0') return { id: message['message-id'] }
      return { refused: { code: message?.status, reason: message?.['error-text'], temporary: passing.has(message?.status) } }
    },
  },
})

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length
}
