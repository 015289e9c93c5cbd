import Type from 'typebox'
import { endpoint } from '../app.ts'
import { device } from '../callers.ts'
import { fail } from '../errors.ts'
import { wordRefusal } from '../wallets/wallet.ts'

export const applePayApprovePaymentSession = endpoint({
  method: 'POST',
  path: '/applepay/approve-payment-session',
  summary: 'Ask Apple for a merchant session: always refused',
  description: `Apple opens its payment sheet on a web page for whoever shows a merchant identity certificate, which comes with a contract. This service holds
none. Shops ask Apple on their own server, and send what the sheet gives to \`POST /applepay/token\`. See [Wallets](guides/wallets.md).`,
  tag: 'Customers',
  caller: device(2),
  body: Type.Object({
    configurationId: Type.String({ maxLength: 128 }),
    text: Type.String({ maxLength: 64, description: 'The name of the shop, as the sheet of Apple Pay has it' }),
  }),
  reply: {},
  fails: ['REQUEST_INVALID', 'APPLEPAY_CONFIGURATION_INVALID'],

  run() {
    const refused = 'APPLEPAY_CONFIGURATION_INVALID'
    const reason = 'asking Apple for a merchant session takes a merchant identity certificate, and this service holds none'
    throw fail(refused, { message: wordRefusal({ refused, reason }) })
  },
})
