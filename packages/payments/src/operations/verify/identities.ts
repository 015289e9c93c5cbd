import { exponentOf } from '../../rules/currencies.ts'
import {
  type ClaimFacts,
  type IdentityFacts,
  type MemberFacts,
  type MerchantFacts,
  type PriceFacts,
  readApps,
  readClaims,
  readMembers,
  readMerchants,
  readPrices,
  readUsers,
} from '../../store/verify/identities.ts'
import { checkMade, type Findings, passOver, tellMoment } from './pass.ts'

/** Whose keys the callers without a name have. */
const nobody = '0'.repeat(24)

export const apps = passOver<IdentityFacts>({
  read: readApps,
  placeOf: ({ id }) => [id, ''],
  check: (app, findings) => checkMade(`app ${app.id}`, app, findings),
})

export const users = passOver<IdentityFacts>({
  read: readUsers,
  placeOf: ({ id }) => [id, ''],
  check: (user, findings) => checkMade(`user ${user.id}`, user, findings),
})

export const merchants = passOver<MerchantFacts>({ read: readMerchants, placeOf: ({ id }) => [id, ''], check: checkMerchant })

function checkMerchant(merchant: MerchantFacts, findings: Findings) {
  const what = `merchant ${merchant.id}`
  checkMade(what, merchant, findings)
  if (merchant.prices === 0) findings.breach(`${what} has no price`)
  if (exponentOf(merchant.currency) === undefined)
    findings.breach(`${what} is paid in ${merchant.currency}, which is no currency`)
}

export const prices = passOver<PriceFacts>({
  read: readPrices,
  placeOf: ({ merchantId, place }) => [merchantId, place],
  check: checkPrice,
})

function checkPrice({ merchantId, since, merchantExists, flatCurrency, disputeCurrency }: PriceFacts, { breach }: Findings) {
  const what = `the price since ${tellMoment(new Date(since))} of merchant ${merchantId}`
  if (!merchantExists) breach(`${what} belongs to a merchant that does not exist`)
  for (const currency of new Set([flatCurrency, disputeCurrency]))
    if (exponentOf(currency) === undefined) breach(`${what} is in ${currency}, which is no currency`)
}

export const members = passOver<MemberFacts>({
  read: readMembers,
  placeOf: ({ merchantId, identityId }) => [merchantId, identityId],
  check: checkMember,
})

function checkMember({ merchantId, identityId, kind, merchantExists, identityExists }: MemberFacts, { breach }: Findings) {
  const what = `${kind} ${identityId}`
  if (!merchantExists) breach(`${what} is a member of merchant ${merchantId}, which does not exist`)
  if (!identityExists) breach(`${what} is a member of merchant ${merchantId} and does not exist`)
}

export const claims = passOver<ClaimFacts>({
  read: readClaims,
  placeOf: ({ ownerId, keyHash }) => [ownerId, keyHash],
  check: checkClaim,
})

function checkClaim(claim: ClaimFacts, { breach }: Findings) {
  const { ownerId, keyHash, merchantId, transactionId, entryId } = claim
  const what = `the Idempotency-Key with the hash ${keyHash} of ${ownerId}`
  if (!claim.ownerExists && ownerId !== nobody) breach(`${what} belongs to nobody who exists`)
  if (merchantId !== null && !claim.merchantExists)
    return breach(`${what} points at merchant ${merchantId}, which does not exist`)
  if (transactionId !== null && !claim.transactionExists)
    return breach(`${what} points at transaction ${transactionId}, which does not exist`)
  if (entryId !== null && !claim.entryExists)
    breach(`${what} points at entry ${entryId} of transaction ${transactionId}, which does not exist`)
}
