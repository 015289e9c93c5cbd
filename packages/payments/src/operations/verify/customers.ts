import {
  type AgreementFacts,
  type CodeFacts,
  type PlanFacts,
  readAgreements,
  readPlans,
  readSecurityCodes,
} from '../../store/verify/customers.ts'
import { claimOf } from '../charge-planned.ts'
import { checkPast, type Findings, passOver, tellMoment } from './pass.ts'

type OfTransaction = Pick<AgreementFacts, 'merchantId' | 'transactionId' | 'created' | 'transactionState'>

/** What belongs to a payment that was made, or may yet be; tells how to say what else is wrong with it. */
function checkMadeWith(
  kind: string,
  { merchantId, transactionId, created, transactionState }: OfTransaction,
  findings: Findings,
) {
  const what = `the ${kind} of transaction ${transactionId} of merchant ${merchantId}`
  const breach = (sentence: string) => findings.breach(`${what} ${sentence}`)
  checkPast(what, created, findings)
  if (transactionState === null) breach('belongs to a transaction that does not exist')
  if (transactionState === 'declined') breach('belongs to a payment that was declined')
  return breach
}

/** Whether its card opens cannot be said here: whoever verifies has no keys. */
export const agreements = passOver<AgreementFacts>({
  read: readAgreements,
  placeOf: ({ merchantId, transactionId }) => [merchantId, transactionId],
  check(agreement, findings) {
    const breach = checkMadeWith('agreement', agreement, findings)
    const { isPlanned, planExists, unplannedMerchant, unplannedCustomer } = agreement
    if (isPlanned && !planExists) breach('announces payments, but there is no plan to make them by')
    if (!isPlanned && !unplannedMerchant && !unplannedCustomer) breach('agrees to nothing')
  },
})

export const plans = passOver<PlanFacts>({
  read: readPlans,
  placeOf: ({ merchantId, transactionId }) => [merchantId, transactionId],
  check(plan, findings) {
    const breach = checkMadeWith('plan', plan, findings)
    const { agreementExists, parts, component, made, lastTransactionId, lastExists } = plan
    if (!agreementExists) breach('was not agreed to')
    if (component < 0 || component >= parts) breach(`is at component ${component} of ${parts}`)
    const counted = plan.approved - uncounted(plan)
    if (made !== counted) breach(`counts ${made} payments, but ${counted} were made`)
    if (lastTransactionId !== null && !lastExists) breach(`made transaction ${lastTransactionId} last, which is none of its own`)
  },
})

/** Of what was approved and not written down, because somebody died in between: that it stands next is how it is found again. */
function uncounted(plan: PlanFacts): number {
  return plan.state !== 'finished' && plan.newest === claimOf(plan).keyHash ? 1 : 0
}

/** How long after its end a security code may wait for somebody to delete it. */
const patience = 60 * 60_000

export const securityCodes = passOver<CodeFacts>({
  read: readSecurityCodes,
  placeOf: ({ id }) => [id, ''],
  check({ id, expires }, { now, warn }) {
    if (expires.getTime() < now.getTime() - patience)
      warn(`the key of security code ${id} expired at ${tellMoment(expires)} and is still there`)
  },
})
