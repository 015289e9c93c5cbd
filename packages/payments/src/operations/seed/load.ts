import type { Tx } from '@tollgate/kit/db'
import { hashKey } from '../../rules/keys.ts'
import type { Booked } from '../../rules/seed-story.ts'
import {
  insertAppMembers,
  insertApps,
  insertCards,
  insertDisputes,
  insertFrauds,
  insertLines,
  insertMerchants,
  insertOperations,
  insertPayouts,
  insertPostings,
  insertPrices,
  insertTrail,
  insertTransactions,
  insertUserMembers,
  insertUsers,
} from '../../store/seed.ts'
import { dropLineSums } from '../sum-lines.ts'
import type { Plan } from './plan.ts'

/** Rows in a statement: enough to be quick, few enough that none of them takes long. */
const batch = 2000

export async function loadPlan(tx: Tx, plan: Plan): Promise<void> {
  const { merchants, transactions, cards, frauds } = plan
  await inBatches(tx, insertApps, plan.apps.map(appRow))
  await inBatches(tx, insertMerchants, merchants.map(merchantRow))
  await inBatches(tx, insertPrices, merchants.map(priceRow))
  await inBatches(
    tx,
    insertAppMembers,
    merchants.flatMap(({ id, created, apps = [] }) => [...new Set(apps)].map((appId) => ({ merchantId: id, appId, created }))),
  )
  await inBatches(tx, insertUsers, plan.users)
  await inBatches(
    tx,
    insertUserMembers,
    merchants.flatMap(({ id, created, users = [] }) => [...new Set(users)].map((email) => ({ merchantId: id, email, created }))),
  )

  await inBatches(tx, insertTransactions, transactions.map(transactionRow))
  await inBatches(tx, insertTrail, transactions.flatMap(trailRows))
  await inBatches(tx, insertOperations, transactions.flatMap(operationRows))
  await inBatches(
    tx,
    insertDisputes,
    transactions.flatMap(({ disputes }) => disputes),
  )

  const lines = [...transactions.flatMap((booked) => booked.lines), ...plan.payoutLines]
  await inBatches(
    tx,
    insertLines,
    lines.map(({ postings: _, ...line }) => line),
  )
  await inBatches(
    tx,
    insertPostings,
    lines.flatMap(({ merchantId, id, postings }) =>
      postings.map((posting, index) => ({ ...posting, merchantId, lineId: id, number: index + 1 })),
    ),
  )
  await inBatches(tx, insertPayouts, plan.payouts)
  await inBatches(tx, insertCards, cards)
  await inBatches(tx, insertFrauds, frauds)

  // Lines of the past are not in the sums that were made since.
  const oldest = new Map<string, Date>()
  for (const { merchantId, created } of lines)
    if (created < (oldest.get(merchantId) ?? new Date(8.64e15))) oldest.set(merchantId, created)
  for (const [merchantId, from] of [...oldest].toSorted(([one], [other]) => (one < other ? -1 : 1)))
    await dropLineSums(tx, merchantId, from)
}

async function inBatches(tx: Tx, insert: (tx: Tx, rows: readonly object[]) => Promise<void>, rows: readonly object[]) {
  for (let start = 0; start < rows.length; start += batch) await insert(tx, rows.slice(start, start + batch))
}

function appRow({ id, name, key, created }: Plan['apps'][number]) {
  return { id, name, keyHash: hashKey(key).toString('hex'), created }
}

function merchantRow(merchant: Plan['merchants'][number]) {
  const { id, key, created, test = false, currency, name, email, website, descriptor, company, bank, claim = {}, tds } = merchant
  return {
    ...{ id, key, created, test, currency, name, email, website, descriptor },
    companyCountry: company.country,
    companyNumber: company.number,
    bankIban: bank?.iban,
    canChargeCard: claim.canChargeCard ?? true,
    canSaveCard: claim.canSaveCard ?? true,
    canTransferToCard: claim.canTransferToCard ?? false,
    canCapture: claim.canCapture ?? true,
    canRefund: claim.canRefund ?? true,
    canVoid: claim.canVoid ?? true,
    tdsMode: tds?.mode ?? 'attempt',
    payouts: merchant.payouts ?? 'daily',
    plans: merchant.plans ?? 'record',
    accent: merchant.accent,
  }
}

function priceRow({ id, created, price: { rate, flat, dispute } }: Plan['merchants'][number]) {
  return {
    merchantId: id,
    since: created,
    rate,
    flatCurrency: flat.currency,
    flatAmount: flat.amount,
    disputeCurrency: dispute.currency,
    disputeAmount: dispute.amount,
  }
}

function transactionRow({ transaction: { card, trail: _, ...transaction }, trail }: Booked) {
  return { ...transaction, ...card, entries: trail.length }
}

function trailRows({ transaction, trail }: Booked) {
  return trail.map(({ rate, ...entry }) => ({
    ...entry,
    merchantId: transaction.merchantId,
    transactionId: transaction.id,
    exchangeRate: rate?.rate,
    exchangeSource: rate?.source,
    exchangeDay: rate?.day,
    acquirerReference: transaction.test && entry.kind !== 'dispute' ? entry.id : null,
  }))
}

/** What the simulator would have written down, had it been asked. */
function operationRows({ transaction, trail }: Booked) {
  const { merchantId, id, created, amount, currency, state, errorCode, test } = transaction
  if (!test) return []
  const shared = { merchantId, authorizationReference: id, currency }
  return [
    { ...shared, reference: id, kind: 'authorize', amount, approved: state === 'approved', code: errorCode, created },
    ...trail
      .filter(({ kind }) => kind !== 'dispute')
      .map((entry) => ({
        ...shared,
        reference: entry.id,
        kind: entry.kind,
        amount: entry.amount,
        approved: true,
        created: entry.created,
      })),
  ]
}
