/** Every SMS gateway with the credentials that it wants, from which its settings follow. */
export const gateways = [
  {
    name: 'twilio',
    credentials: {
      ACCOUNT_SID: 'The account identifier',
      AUTH_TOKEN: 'The secret token of the account',
      MESSAGE_SERVICE_SID: 'The message service, or the sender number',
    },
  },
  {
    name: 'messagebird',
    credentials: { ACCESS_KEY: 'The access key', ORIGINATOR: 'The sender: a number with a plus sign, or a company name' },
  },
  { name: 'textlocal', credentials: { API_KEY: 'The API key', SENDER: 'The sender' } },
  { name: 'vonage', credentials: { API_KEY: 'The API key', API_SECRET: 'The API secret', FROM: 'The sender' } },
] as const
