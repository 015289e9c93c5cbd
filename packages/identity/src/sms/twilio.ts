import { gateway } from './gateway.ts'

type Reply = { sid?: unknown; status?: unknown; code?: unknown; message?: unknown; error_code?: unknown; error_message?: unknown }

/** https://www.twilio.com/docs/messaging/api/message-resource */
export const twilio = gateway({
  name: 'twilio',
  credentials: {
    ACCOUNT_SID: 'The account identifier',
    AUTH_TOKEN: 'The secret token of the account',
    MESSAGE_SERVICE_SID: 'The message service, or the sender number',
  },
  options: { CONTENT_SID: 'The template of WhatsApp messages' },
  wire: {
    base: 'https://api.twilio.com',

    request({ ACCOUNT_SID, AUTH_TOKEN, MESSAGE_SERVICE_SID, CONTENT_SID }, { to, text, channel, code }) {
      const whatsapp = channel === 'whatsapp'
      const sentByNumber = /^\+?[1-9]\d{1,14}$/.test(MESSAGE_SERVICE_SID)
      return {
        path: `/2010-04-01/Accounts/${encodeURIComponent(ACCOUNT_SID)}/Messages.json`,
        headers: { authorization: `Basic ${Buffer.from(`${ACCOUNT_SID}:${AUTH_TOKEN}`).toString('base64')}` },
        form: {
          To: whatsapp ? `whatsapp:+${to}` : `+${to}`,
          Channel: whatsapp ? 'whatsapp' : 'sms',
          From: whatsapp && sentByNumber ? `whatsapp:${MESSAGE_SERVICE_SID}` : MESSAGE_SERVICE_SID,
          Body: text,
          // WhatsApp lets strangers be written to in approved words only; the code is what varies in them.
          ...(whatsapp && CONTENT_SID ? { ContentSid: CONTENT_SID, ContentVariables: JSON.stringify({ 1: code }) } : {}),
        },
      }
    },

    outcome({ sid, status, code, message, error_code, error_message }: Reply) {
      // An error's `status` is the number of the HTTP status, a message's is a word.
      if (typeof sid !== 'string') return { refused: { code, reason: message } }
      if (status === 'failed' || status === 'undelivered') return { refused: { code: error_code, reason: error_message } }
      return { id: sid }
    },
  },
})
