import { randomUUID } from 'node:crypto'
import type { Endpoint, Incoming } from '@tollgate/kit/endpoint'
import type { Failure } from '@tollgate/kit/failure'
import type { Manner, Wire } from '@tollgate/kit/serve'
import type { Problem } from '@tollgate/kit/shape'
import Type from 'typebox'
import type { App } from './app.ts'
import type { Config } from './config.ts'
import { tdsChallenge } from './endpoints/3dsecure-v2-challenge.ts'
import { tdsMethod } from './endpoints/3dsecure-v2-method.ts'
import { applePayApprovePaymentSession } from './endpoints/applepay-approve-payment-session.ts'
import { applePayToken } from './endpoints/applepay-token.ts'
import { apps } from './endpoints/apps.ts'
import { card } from './endpoints/cards.ts'
import { dispute, disputes } from './endpoints/disputes.ts'
import { fraud, frauds } from './endpoints/frauds.ts'
import { gatewayCards } from './endpoints/gateway-cards.ts'
import { gatewayTransactions } from './endpoints/gateway-transactions.ts'
import { googlePayToken } from './endpoints/googlepay-token.ts'
import { health } from './endpoints/health.ts'
import { idempotency } from './endpoints/idempotency.ts'
import { identitiesMerchants } from './endpoints/identities-merchants.ts'
import { line } from './endpoints/lines.ts'
import { live } from './endpoints/live.ts'
import { me } from './endpoints/me.ts'
import { changeMerchant, merchant, merchants } from './endpoints/merchants.ts'
import { addMerchantApp, merchantsApps, removeMerchantApp } from './endpoints/merchants-apps.ts'
import { merchantsBalance } from './endpoints/merchants-balance.ts'
import { merchantsCards } from './endpoints/merchants-cards.ts'
import { merchantsLines } from './endpoints/merchants-lines.ts'
import { merchantsLinks } from './endpoints/merchants-links.ts'
import { merchantsPayouts } from './endpoints/merchants-payouts.ts'
import { merchantsPlans, removeMerchantPlan } from './endpoints/merchants-plans.ts'
import { simulatorDisputes } from './endpoints/merchants-simulator-disputes.ts'
import { simulatorDisputesDecisions } from './endpoints/merchants-simulator-disputes-decisions.ts'
import { simulatorFrauds } from './endpoints/merchants-simulator-frauds.ts'
import { simulatorPayments } from './endpoints/merchants-simulator-payments.ts'
import { createTransaction, merchantsTransactions } from './endpoints/merchants-transactions.ts'
import { addMerchantUser, merchantsUsers, removeMerchantUser } from './endpoints/merchants-users.ts'
import { payments } from './endpoints/payments.ts'
import { paymentsChallenges } from './endpoints/payments-challenges.ts'
import { paymentsFingerprint } from './endpoints/payments-fingerprint.ts'
import { pos } from './endpoints/pos.ts'
import { posAssets } from './endpoints/pos-assets.ts'
import { posPopup } from './endpoints/pos-popup.ts'
import { ready } from './endpoints/ready.ts'
import { sdk, sdkTen } from './endpoints/sdk.ts'
import { transaction } from './endpoints/transactions.ts'
import { captures } from './endpoints/transactions-captures.ts'
import { refunds } from './endpoints/transactions-refunds.ts'
import { voids } from './endpoints/transactions-voids.ts'
import { vault } from './endpoints/vault.ts'
import { fail } from './errors.ts'
import { admitsJson } from './rules/accept.ts'
import { devices, isForDevices, wordForDevices } from './rules/device-dialect.ts'
import { gatewayPages, isForGateway, reasonOf } from './rules/gateway-dialect.ts'
import { ProcessingErrorShape } from './shapes.ts'

/** The whole API of the payments service. */
export const endpoints: readonly Endpoint<App>[] = [
  health,
  live,
  ready,
  apps,
  me,
  merchants,
  merchant,
  changeMerchant,
  identitiesMerchants,
  merchantsApps,
  addMerchantApp,
  removeMerchantApp,
  merchantsUsers,
  addMerchantUser,
  removeMerchantUser,
  createTransaction,
  merchantsTransactions,
  transaction,
  captures,
  refunds,
  voids,
  merchantsPlans,
  removeMerchantPlan,
  idempotency,
  merchantsLines,
  line,
  merchantsBalance,
  merchantsPayouts,
  merchantsLinks,
  merchantsCards,
  card,
  disputes,
  dispute,
  frauds,
  fraud,
  // What the devices of customers call, and the pages that they see.
  vault,
  payments,
  paymentsChallenges,
  paymentsFingerprint,
  tdsMethod,
  tdsChallenge,
  applePayToken,
  applePayApprovePaymentSession,
  googlePayToken,
  pos,
  posPopup,
  posAssets,
  sdk,
  sdkTen,
  gatewayTransactions,
  gatewayCards,
  simulatorPayments,
  simulatorDisputes,
  simulatorDisputesDecisions,
  simulatorFrauds,
]

const fieldProblems = Type.Array(
  Type.Object({
    field: Type.String({ description: 'The dotted path of the field' }),
    message: Type.String({ description: 'What is wrong with it' }),
  }),
)

const refusal = Type.Object({
  code: Type.String({ description: 'For programs' }),
  message: Type.String({ description: 'For people' }),
})

const deviceRefusal = Type.Object({
  code: Type.String({ description: 'For programs' }),
  message: Type.String({ description: 'For people' }),
  errors: Type.Optional(Type.Array(Type.String(), { description: 'What is wrong with the request, field by field' })),
})

export function failureShape(status: number, path: string) {
  if (isForDevices(path)) return deviceRefusal
  return status === 400 ? Type.Union([fieldProblems, ProcessingErrorShape]) : refusal
}

export function manner(config: Config): Manner {
  return {
    // The official client sends `false` for a property that it leaves out, others send an empty text.
    input: {
      absent: (value) => value === null || value === false || value === '',
      convertJson: true,
      caseInsensitive: false,
      emptyLists: 'objects',
    },
    bodies: 'declared',
    bodyLimit: 1_048_576,
    fail,
    misfit,
    word,
    contentType: 'application/json; charset=utf-8',
    // Clients that read line by line throw away a last line that does not end.
    ending: '\n',
    headers: {
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      // Links to pay by, and where somebody pays, are nobody else's business.
      'referrer-policy': 'no-referrer',
      'strict-transport-security': 'max-age=31536000; includeSubdomains; preload',
      vary: 'Accept, Accept-Encoding',
      'x-content-type-options': 'nosniff',
    },
    cors: (path) => (isForDevices(path) ? devices : config.customers.gateway && isForGateway(path) ? gatewayPages : undefined),
    mounts: config.customers.hosts,
    requestId: { header: config.api.requestIdHeader, mint: () => randomUUID().replaceAll('-', '') },
    longestRequest: config.api.longestRequest,
  }
}

/** An id in the path that cannot be one names nothing, like one that is unknown. */
function misfit(place: 'params' | 'query' | 'body', problems: readonly Problem[]): Failure {
  if (place === 'params') return fail('not_found')
  // Whoever shows these errors needs a field to put each of them beside.
  return fail('validation_failed', { problems: problems.map((each) => (each.path === '' ? { ...each, path: place } : each)) })
}

function word(failure: Failure, request: Incoming): Wire {
  if (isForDevices(request.path)) return wordForDevices(failure)
  const { status, headers } = failure
  // A processing error is a story of its own, and always told.
  if (failure.code === 'processing_failed') return { status, headers, body: `${JSON.stringify(failure.more)}\n` }
  if (status === 400) {
    const message = failure.code === 'bad_json' ? `The body could not be read: ${failure.message}` : failure.message
    const problems = failure.problems.length > 0 ? failure.problems : [{ path: 'body', message }]
    const body = problems.map(({ path, message }) => ({ field: path, message }))
    const reason = isForGateway(request.path) ? reasonOf(failure) : undefined
    return { status, headers, reason, body: `${JSON.stringify(body)}\n` }
  }
  if (!admitsJson(request.headers.accept)) return { status, headers, body: undefined }
  return { status, headers, body: `${JSON.stringify({ code: failure.code, message: failure.message, ...failure.more })}\n` }
}
