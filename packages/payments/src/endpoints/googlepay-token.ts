import Type from 'typebox'
import { endpoint } from '../app.ts'
import { device } from '../callers.ts'
import { fail } from '../errors.ts'
import { openGooglePay } from '../wallets/googlepay.ts'
import { wordRefusal } from '../wallets/wallet.ts'

export const googlePayToken = endpoint({
  method: 'POST',
  path: '/googlepay/token',
  summary: 'Exchange what Google Pay gave for a token',
  description: `The signatures are checked and the card decrypted. The answer as a whole is what \`POST /payments\` takes as \`googlepay\`. See
[Wallets](guides/wallets.md).`,
  tag: 'Customers',
  caller: device(1),
  body: Type.Object({
    token: Type.String({
      maxLength: 32_768,
      description: 'The paymentMethodData.tokenizationData.token of a PaymentData: JSON, as text',
    }),
  }),
  reply: { 200: Type.Object({ token: Type.String({ description: 'Opaque' }) }) },
  fails: [
    'REQUEST_INVALID',
    'GOOGLEPAY_TOKEN_INVALID',
    'GOOGLEPAY_CONFIGURATION_INVALID',
    'GOOGLEPAY_DECODING_ERROR',
    'vault_missing',
  ],

  run({ config, vault, now, meters }, { body: { token } }) {
    const opened = openGooglePay(token, config.wallets.googlePay, now())
    if ('refused' in opened) throw fail(opened.refused, { message: wordRefusal(opened) })
    const sealed = vault.seal('googlepay', opened.wallet.reveal(), now())
    meters.vaultToken('googlepay')
    return { token: sealed }
  },
})
