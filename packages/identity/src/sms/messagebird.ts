import { gateway } from './gateway.ts'

type Reply = {
  id?: unknown
  recipients?: { totalSentCount?: unknown }
  errors?: { code?: unknown; description?: unknown }[]
}

/** https://developers.messagebird.com/api/sms-messaging/#send-outbound-sms */
export const messagebird = gateway({
  name: 'messagebird',
  credentials: { ACCESS_KEY: 'The access key', ORIGINATOR: 'The sender: a number with a plus sign, or a company name' },
  wire: {
    base: 'https://rest.messagebird.com',

    request: ({ ACCESS_KEY, ORIGINATOR }, { to, text }) => ({
      path: '/messages',
      headers: { authorization: `AccessKey ${ACCESS_KEY}` },
      form: { originator: ORIGINATOR, body: text, recipients: to, type: 'sms', datacoding: 'unicode' },
    }),

    outcome({ id, recipients, errors }: Reply) {
      if (Number(recipients?.totalSentCount) > 0) return { id }
      return { refused: { code: errors?.[0]?.code, reason: errors?.[0]?.description } }
    },
  },
})
