import { Secret } from '@tollgate/kit/secret'
import { settle } from '@tollgate/kit/shape'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { device } from '../callers.ts'
import { unfit } from '../errors.ts'
import { limitCaller } from '../operations/limit.ts'
import { insertSecurityCode } from '../store/security-codes.ts'

const kinds = {
  pcn: { pattern: /^\d{10,19}$/, refusal: 'Must be 10 to 19 digits' },
  pcsc: { pattern: /^\d{3}$/, refusal: 'Must be 3 digits' },
} as const

/** Out of sight before anything else is done with it. */
const Value = settle(
  Type.String({ description: 'Digits alone: 10 to 19 of a card number, 3 of a security code' }),
  (value) => new Secret(value),
)

export const vault = endpoint({
  method: 'POST',
  path: '/vault',
  summary: 'Exchange a card number or a security code for a token',
  description: `Card numbers and security codes are sent here straight from the device of the payer. The answer as a whole is what \`POST /payments\` takes
as \`card.number\` or \`card.code\`. A token can be paid with for PAY_VAULT_TOKEN_EXP, that of a security code once. See
[The vault](guides/vault.md).`,
  tag: 'Customers',
  caller: device(1),
  body: Type.Object({
    type: Type.Union([Type.Literal('pcn'), Type.Literal('pcsc')], { description: 'A card number, or a security code' }),
    value: Value,
  }),
  reply: { 200: Type.Object({ token: Type.String({ description: 'Opaque' }) }) },
  fails: ['REQUEST_INVALID', 'over_rate_limit', 'vault_missing'],

  async run(app, { body: { type, value }, request }) {
    const { vault, db, now, config, meters } = app
    const { pattern, refusal } = kinds[type]
    // Whether it could be the number of a card is not asked here: the numbers of test cards could not.
    if (!pattern.test(value.reveal())) throw unfit('value', refusal)
    await limitCaller(app, request, 'vault', config.rateLimit.vault)
    if (type === 'pcn') {
      const token = vault.seal('pcn', value.reveal(), now())
      meters.vaultToken(type)
      return { token }
    }
    const { token, ...key } = vault.sealCode(value.reveal(), now())
    await insertSecurityCode(db, key)
    meters.vaultToken(type)
    return { token }
  },
})
