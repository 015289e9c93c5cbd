import Type from 'typebox'
import { endpoint } from '../app.ts'
import { device } from '../callers.ts'
import { fail } from '../errors.ts'
import { openApplePay } from '../wallets/applepay.ts'
import { wordRefusal } from '../wallets/wallet.ts'

export const applePayToken = endpoint({
  method: 'POST',
  path: '/applepay/token',
  summary: 'Exchange what Apple Pay gave for a token',
  description: `The signature is checked and the card decrypted. The answer as a whole is what \`POST /payments\` takes as \`applepay\`, for the amount that the
payer agreed to. See [Wallets](guides/wallets.md).`,
  tag: 'Customers',
  caller: device(1),
  body: Type.Object({
    token: Type.String({
      maxLength: 32_768,
      description: 'JSON, as text: the paymentData of a PKPaymentToken, or all of it',
    }),
  }),
  reply: { 200: Type.Object({ token: Type.String({ description: 'Opaque' }) }) },
  fails: ['REQUEST_INVALID', 'APPLEPAY_TOKEN_INVALID', 'APPLEPAY_CONFIGURATION_INVALID', 'vault_missing'],

  run({ config, vault, now, meters }, { body: { token } }) {
    const opened = openApplePay(token, config.wallets.applePay, now())
    if ('refused' in opened) throw fail(opened.refused, { message: wordRefusal(opened) })
    const sealed = vault.seal('applepay', opened.wallet.reveal(), now())
    meters.vaultToken('applepay')
    return { token: sealed }
  },
})
