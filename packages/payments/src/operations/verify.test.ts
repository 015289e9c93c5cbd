import type { Db, Tx } from '@tollgate/kit/db'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { hashKey } from '../rules/keys.ts'
import { basic, plantMerchant, plantTransaction, startPayments } from '../testing.ts'
import { decideDispute } from './decide-dispute.ts'
import { recordDispute } from './record-dispute.ts'
import { runPayouts } from './run-payouts.ts'
import {
  computedId,
  declinedId,
  disputedId,
  disputeId,
  everything,
  exchangedId,
  liveId,
  merchantId,
  recordedId,
  untouchedId,
} from './seed/testing.ts'
import { seed } from './seed.ts'
import { verify } from './verify.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
  await seed(service.app, everything())
})
afterAll(() => service.stop())

const nowhere = '5d18ffff0000000000000000'

/** Runs statements that the database would refuse otherwise, verifies what they leave behind, and takes it all back. */
async function planted(...statements: string[]) {
  const { db } = service.app
  const undo = new Error('undo')
  let verdict: Awaited<ReturnType<typeof verify>> | undefined
  const story = db.begin(async (tx) => {
    await tx`set local session_replication_role = replica`
    for (const statement of statements) await tx(Object.assign([statement], { raw: [statement] }))
    verdict = await verify(insideOf(tx), service.now(), 3)
    throw undo
  })
  await expect(story).rejects.toBe(undo)
  return verdict as Awaited<ReturnType<typeof verify>>
}

/** A transaction in the guise of a database: nothing but what it has done is to be seen, so it need not hold still. */
function insideOf(tx: Tx): Db {
  const calm = ((template: TemplateStringsArray, ...values: never[]) =>
    isHolding(template) ? Promise.resolve([]) : tx(template, ...values)) as unknown as Tx
  return Object.assign(calm, { begin: (story: (tx: Tx) => unknown) => story(calm) }) as unknown as Db
}

function isHolding(template: TemplateStringsArray): boolean {
  return /^\s*set transaction/.test(template[0] ?? '')
}

const transaction = (id: string) => `transaction ${id} of merchant ${id === recordedId ? liveId : merchantId}: `
const ofTransaction = (id: string) => `where transaction_id = '${id}'`
const loosen = (table: string, constraint: string) => `alter table pay.${table} drop constraint ${constraint}`
const copyLine = (id: string, changed: Record<string, string>, from: string) => {
  const columns =
    'id, merchant_id, created, test, kind, won, balance, fee, amount, currency, transaction_id, dispute_id, iban'.split(', ')
  const values = columns.map((column) => (column === 'id' ? `'${id}'` : (changed[column] ?? column)))
  return `insert into pay.lines (${columns.join(', ')}) select ${values.join(', ')} from pay.lines where ${from}`
}

describe('whatever breaks a promise is named', () => {
  test('and nothing else', async () => {
    expect(await planted()).toMatchObject({ breaches: [], breachCount: 0, warnings: [], warningCount: 0 })
  })

  test.each<[fact: string, statements: string[], sentence: string]>([
    [
      'an app of the future',
      ["update pay.apps set created = '2100-01-01'"],
      'app 5d18a2ea0000000000000001 was created in the future, at 2100-01-01T00:00:00.000Z',
    ],
    [
      'an app of no time',
      ["update pay.apps set created = 'infinity'"],
      'app 5d18a2ea0000000000000001 was created in the future, at no moment at all',
    ],
    ['a user of the future', ["update pay.users set created = '2100-01-01'"], 'was created in the future, at 2100'],
    [
      'an id that is none',
      ['alter domain pay.id drop constraint id_check', "update pay.frauds set id = 'x'"],
      `fraud x of merchant ${merchantId} has an id that is not 24 hex digits`,
    ],
    [
      'a merchant without a price',
      [`delete from pay.prices where merchant_id = '${merchantId}'`],
      `merchant ${merchantId} has no price`,
    ],
    [
      'a merchant of no currency',
      ["update pay.merchants set currency = 'XXX'"],
      `merchant ${merchantId} is paid in XXX, which is no currency`,
    ],
    [
      'a price of nobody',
      [`update pay.prices set merchant_id = '${nowhere}' where merchant_id = '${liveId}'`],
      `the price since 2019-06-30T12:08:43.000Z of merchant ${nowhere} belongs to a merchant that does not exist`,
    ],
    [
      'a price in no currency',
      ["update pay.prices set flat_currency = 'XXX'"],
      `of merchant ${merchantId} is in XXX, which is no currency`,
    ],
    [
      'a member of nothing',
      [`update pay.members set merchant_id = '${nowhere}' where merchant_id = '${liveId}'`],
      `app 5d18a2ea0000000000000001 is a member of merchant ${nowhere}, which does not exist`,
    ],
    ['a member who does not exist', ['delete from pay.users'], `is a member of merchant ${merchantId} and does not exist`],
    [
      'a member who is an app but should be a user',
      ["update pay.members set kind = 'user'"],
      `user 5d18a2ea0000000000000001 is a member of merchant ${merchantId} and does not exist`,
    ],

    [
      'a transaction of nobody',
      [`delete from pay.merchants where id = '${liveId}'`],
      `${transaction(recordedId)}the merchant does not exist`,
    ],
    [
      'a transaction of the future',
      [`update pay.transactions set created = '2100-01-01' where id = '${untouchedId}'`],
      `transaction ${untouchedId} of merchant ${merchantId} was created in the future`,
    ],
    [
      'another test than the merchant',
      [`update pay.transactions set test = false where id = '${untouchedId}'`],
      `${transaction(untouchedId)}test is false, but true of the merchant`,
    ],
    [
      'a currency that is none',
      [`update pay.transactions set currency = 'XXX' where id = '${untouchedId}'`],
      `${transaction(untouchedId)}XXX is no currency`,
    ],
    [
      'an error nobody knows',
      [`update pay.transactions set error_code = 99 where id = '${declinedId}'`],
      `${transaction(declinedId)}99 is no processing error`,
    ],
    [
      'a source that is gone',
      [`update pay.transactions set source_id = '${nowhere}' where id = '${untouchedId}'`],
      `${transaction(untouchedId)}it was made from transaction ${nowhere}, which does not exist`,
    ],
    [
      'a saved card that is gone',
      [`update pay.transactions set card_id = '${nowhere}' where id = '${untouchedId}'`],
      `${transaction(untouchedId)}it was made from card ${nowhere}, which does not exist`,
    ],
    [
      'a wrong number of entries',
      [`update pay.transactions set entries = 4 where id = '${computedId}'`],
      `${transaction(computedId)}it counts 4 entries, but its trail has 3`,
    ],
    [
      'a wrong number of settlements',
      [`update pay.transactions set settlements = 2 where id = '${computedId}'`],
      `${transaction(computedId)}it counts 2 settlements, but 3 entries of its trail are settled`,
    ],
    [
      'two entries that were settled as the same one',
      [`update pay.trail set settlement = 1 ${ofTransaction(computedId)} and kind = 'void'`],
      `${transaction(computedId)}the settlements in its trail are 1, 2, 1`,
    ],
    [
      'positions out of order',
      [`update pay.trail set position = 7 ${ofTransaction(computedId)} and kind = 'void'`],
      `${transaction(computedId)}the positions in its trail are 1, 2, 7`,
    ],
    [
      'a declined one with a trail',
      [
        loosen('transactions', 'transactions_pots_check'),
        `update pay.transactions set state = 'declined', error_code = 7 where id = '${computedId}'`,
      ],
      `${transaction(computedId)}it is declined, but its trail has 3 entries`,
    ],
    [
      'a declined one with money',
      [
        loosen('transactions', 'transactions_pots_check'),
        `update pay.transactions set capturable = 800 where id = '${declinedId}'`,
      ],
      `${transaction(declinedId)}it is declined, but money is on it: captured 0, capturable 800`,
    ],
    [
      'captured that is not',
      [
        loosen('transactions', 'transactions_pots_check'),
        `update pay.transactions set captured = 601 where id = '${computedId}'`,
      ],
      `${transaction(computedId)}captured is 601, but its trail comes to 600`,
    ],
    [
      'refunded that is not',
      [`update pay.transactions set refunded = 199 where id = '${computedId}'`],
      `${transaction(computedId)}refunded is 199, but its trail comes to 200`,
    ],
    [
      'voided that is not',
      [`update pay.transactions set voided = 99 where id = '${computedId}'`],
      `${transaction(computedId)}voided is 99, but its trail comes to 100`,
    ],
    [
      'disputed that is not',
      [`update pay.transactions set disputed = 0 where id = '${disputedId.lost}'`],
      `${transaction(disputedId.lost)}disputed is 0, but its trail comes to 1000`,
    ],
    [
      'disputed that was won',
      [`update pay.transactions set disputed = 1000 where id = '${disputedId.won}'`],
      `${transaction(disputedId.won)}disputed is 1000, but its trail comes to 0`,
    ],
    [
      'returned that is not',
      [`update pay.transactions set returned = 201 where id = '${computedId}'`],
      `${transaction(computedId)}returned is 201, but its trail comes to 200`,
    ],
    [
      'captured gross that is not',
      [`update pay.transactions set captured_gross = 1 where id = '${exchangedId}'`],
      `${transaction(exchangedId)}captured gross is 1, but its trail comes to 5816`,
    ],
    [
      'a captured rate fee that is not',
      [`update pay.transactions set captured_rate_fee = 14 where id = '${computedId}'`],
      `${transaction(computedId)}captured rate fee is 14, but its trail comes to 15`,
    ],
    [
      'returned gross that is not',
      [`update pay.transactions set returned_gross = 1 where id = '${disputedId.open}'`],
      `${transaction(disputedId.open)}returned gross is 1, but its trail comes to 1000`,
    ],
    [
      'a returned rate fee that is not',
      [`update pay.transactions set returned_rate_fee = 4 where id = '${computedId}'`],
      `${transaction(computedId)}returned rate fee is 4, but its trail comes to 5`,
    ],
    [
      'more captured than authorized',
      [loosen('transactions', 'transactions_pots_check'), `update pay.transactions set amount = 599 where id = '${computedId}'`],
      `${transaction(computedId)}600 is captured of 599 that was authorized`,
    ],
    [
      'more refunded than captured',
      [
        loosen('transactions', 'transactions_pots_check'),
        `update pay.transactions set refunded = 601 where id = '${computedId}'`,
      ],
      `${transaction(computedId)}601 is refunded of 600 that was captured`,
    ],
    [
      'a pot with too little to capture',
      [`update pay.transactions set capturable = 299 where id = '${computedId}'`],
      `${transaction(computedId)}capturable is 299, but 300 is left of 1000: captured 600, voided 100, under way 0`,
    ],
    [
      'a pot with too little to refund',
      [`update pay.transactions set refundable = 399 where id = '${computedId}'`],
      `${transaction(computedId)}refundable is 399, but 400 is left of 600: refunded 200, under way 0, held by disputes 0`,
    ],
    [
      'a pot with what a dispute holds',
      [`update pay.transactions set refundable = 1000 where id = '${disputedId.lost}'`],
      `${transaction(disputedId.lost)}refundable is 1000, but 0 is left of 1000: refunded 0, under way 0, held by disputes 1000`,
    ],
    [
      'amounts beyond all numbers',
      [`update pay.trail set gross = 9223372036854775807 ${ofTransaction(computedId)}`],
      `${transaction(computedId)}captured gross is 600, but its trail comes to 9223372036854775807`,
    ],

    [
      'a trail without a transaction',
      [`delete from pay.transactions where id = '${computedId}'`],
      `the trail of transaction ${computedId} of merchant ${merchantId} has 3 entries, but there is no such transaction`,
    ],
    [
      'an entry of the future',
      [`update pay.trail set created = '2100-01-01' ${ofTransaction(computedId)} and kind = 'void'`],
      `of transaction ${computedId} of merchant ${merchantId} was created in the future`,
    ],
    [
      'an entry that does not add up',
      [`update pay.trail set fee_flat = 26 ${ofTransaction(computedId)} and kind = 'capture'`],
      'has balance 560, but gross 600 and fees 26 and 15 come to 559',
    ],
    [
      'a refund that does not add up',
      [`update pay.trail set balance = 195 ${ofTransaction(computedId)} and kind = 'refund'`],
      'has balance 195, but gross 200 and fees 0 and -5 come to -195',
    ],
    [
      'a void that moves money',
      [`update pay.trail set balance = 1 ${ofTransaction(computedId)} and kind = 'void'`],
      'moves no money, but has gross 0, fees 0 and 0, balance 1',
    ],
    [
      'an exchange into the same currency',
      [`update pay.trail set gross = 601, balance = 561 ${ofTransaction(computedId)} and kind = 'capture'`],
      'has gross 601 for 600 of the same currency',
    ],
    [
      'an entry whose line is gone',
      ["delete from pay.lines where id = '5d18a4000000000000000022'"],
      'names line 5d18a4000000000000000022, which does not exist',
    ],
    [
      'an entry without a line',
      [`update pay.trail set line_id = null ${ofTransaction(computedId)} and kind = 'capture'`],
      'has no line',
    ],
    [
      'a line with another balance',
      ["update pay.lines set balance = 3380 where id = '5d18a4000000000000000021'"],
      'has balance 3379, but its line 5d18a4000000000000000021 has 3380',
    ],
    [
      'a line with another fee',
      ["update pay.lines set fee = 284 where id = '5d18a4000000000000000021'"],
      'has fee 283, but its line 5d18a4000000000000000021 has 284',
    ],
    [
      'a line with another amount',
      ["update pay.lines set amount = 501 where id = '5d18a4000000000000000021'"],
      'has amount 500, but its line 5d18a4000000000000000021 has 501',
    ],
    [
      'a line of another kind',
      ["update pay.lines set kind = 'refund' where id = '5d18a4000000000000000021'"],
      'has kind capture, but its line 5d18a4000000000000000021 has refund',
    ],
    [
      'a line in another currency',
      ["update pay.lines set currency = 'SEK' where id = '5d18a4000000000000000021'"],
      'has currency EUR, but its line 5d18a4000000000000000021 has SEK',
    ],
    [
      'a line of another transaction',
      [`update pay.lines set transaction_id = '${computedId}' where id = '5d18a4000000000000000021'`],
      `has transaction ${recordedId}, but its line 5d18a4000000000000000021 has ${computedId}`,
    ],
    [
      'a line of another dispute',
      [`update pay.lines set dispute_id = '${disputeId.won}' ${ofTransaction(disputedId.open)} and kind = 'dispute'`],
      `has dispute ${disputeId.open}, but its line`,
    ],
    [
      'an opening that is a decision',
      [`update pay.lines set won = true ${ofTransaction(disputedId.open)} and kind = 'dispute'`],
      'which tells how a dispute ended',
    ],
    [
      'an entry whose dispute is gone',
      [`delete from pay.disputes where id = '${disputeId.open}'`],
      `is about dispute ${disputeId.open}, which does not exist`,
    ],
    [
      'an entry about a dispute of another transaction',
      [`update pay.disputes set transaction_id = '${computedId}' where id = '${disputeId.open}'`],
      `is about dispute ${disputeId.open} of transaction ${computedId}`,
    ],
    [
      'an entry about another amount than its dispute',
      [`update pay.disputes set amount = 1001 where id = '${disputeId.open}'`],
      `is about 1000, but dispute ${disputeId.open} about 1001`,
    ],
    [
      'an entry that was decided otherwise',
      [`update pay.trail set dispute_won = true ${ofTransaction(disputedId.lost)} and kind = 'dispute'`],
      `is won, but dispute ${disputeId.lost} is lost`,
    ],

    [
      'a simulator that captured more',
      [`update pay.simulator_operations set amount = 601 where authorization_reference = '${computedId}' and kind = 'capture'`],
      `${transaction(computedId)}the simulator has capture of 601, we have 600`,
    ],
    [
      'a simulator that refunded nothing',
      [
        `update pay.simulator_operations set approved = false where authorization_reference = '${computedId}' and kind = 'refund'`,
      ],
      `${transaction(computedId)}the simulator has refund of 0, we have 200`,
    ],
    [
      'a simulator that voided nothing',
      [`delete from pay.simulator_operations where authorization_reference = '${computedId}' and kind = 'void'`],
      `${transaction(computedId)}the simulator has void of 0, we have 100`,
    ],
    [
      'a simulator that authorized nothing',
      [`update pay.simulator_operations set approved = false where reference = '${untouchedId}'`],
      `${transaction(untouchedId)}the simulator has authorize of 0, we have 450`,
    ],
    [
      'a simulator that authorized what we declined',
      [`update pay.simulator_operations set approved = true where reference = '${declinedId}'`],
      `${transaction(declinedId)}the simulator has authorize of 800, we have 0`,
    ],
    [
      'a simulator with another currency',
      [`update pay.simulator_operations set currency = 'SEK' where reference = '${untouchedId}'`],
      `${transaction(untouchedId)}the simulator did ${untouchedId} in SEK, not in EUR`,
    ],
    [
      'a simulator that did what we know nothing of',
      [`update pay.simulator_operations set authorization_reference = 'what' where reference = '${untouchedId}'`],
      `the simulator did ${untouchedId} for merchant ${merchantId} on authorization what, which is no transaction of its own`,
    ],

    [
      'a line of nobody',
      [`delete from pay.merchants where id = '${liveId}'`],
      `line 5d18a4000000000000000021 of merchant ${liveId}: the merchant does not exist`,
    ],
    [
      'a line of the future',
      ["update pay.lines set created = '2100-01-01' where id = '5d18a4000000000000000021'"],
      `line 5d18a4000000000000000021 of merchant ${liveId} was created in the future`,
    ],
    [
      'a line with another test than the merchant',
      ["update pay.lines set test = true where id = '5d18a4000000000000000021'"],
      `line 5d18a4000000000000000021 of merchant ${liveId}: test is true, but false of the merchant`,
    ],
    [
      'a payout in another currency',
      ["update pay.lines set currency = 'SEK' where kind = 'payout'"],
      `line 5d18a40000000000000000aa of merchant ${merchantId}: its amount is in SEK, not in EUR`,
    ],
    [
      'a line that nothing made',
      [copyLine(nowhere, {}, "id = '5d18a4000000000000000021'")],
      `line ${nowhere} of merchant ${liveId}: it is a capture that 0 entries of transaction ${recordedId} name`,
    ],
    [
      'a payout line without a payout',
      ['delete from pay.payouts'],
      `line 5d18a40000000000000000aa of merchant ${merchantId}: it is a payout that 0 payouts name`,
    ],
    [
      'a decision of nothing',
      [`delete from pay.disputes where id = '${disputeId.won}'`],
      `line 5d18a4000000000000000025 of merchant ${merchantId}: it decides dispute ${disputeId.won}, which does not exist`,
    ],
    [
      'a decision the other way round',
      ["update pay.lines set won = false where id = '5d18a4000000000000000025'"],
      `line 5d18a4000000000000000025 of merchant ${merchantId}: it says that dispute ${disputeId.won} is lost, but that is won`,
    ],
    [
      'a decision about another transaction',
      [`update pay.lines set transaction_id = '${computedId}' where id = '5d18a4000000000000000025'`],
      `it decides dispute ${disputeId.won} on transaction ${computedId}, but that is about ${disputedId.won}`,
    ],
    [
      'a line without postings',
      ["delete from pay.postings where line_id = '5d18a4000000000000000021'"],
      `line 5d18a4000000000000000021 of merchant ${liveId}: it has no postings`,
    ],
    [
      'postings that come to something else',
      ["update pay.postings set amount = amount + 1 where line_id = '5d18a4000000000000000021' and credit = 'merchant'"],
      `line 5d18a4000000000000000021 of merchant ${liveId}: its balance is 3379, but its postings credit the merchant with 3380`,
    ],
    [
      'postings that charge something else',
      ["update pay.postings set credit = 'rounding' where line_id = '5d18a4000000000000000021' and credit = 'fees'"],
      `line 5d18a4000000000000000021 of merchant ${liveId}: its fee is 283, but its postings charge 0`,
    ],
    [
      'a posting in a third currency',
      ["update pay.postings set currency = 'SEK' where line_id = '5d18a4000000000000000021' and debit = 'acquirer'"],
      'a posting is in SEK, which neither side uses',
    ],
    [
      'foreign money outside of the exchange',
      ["update pay.postings set credit = 'merchant' where line_id = '5d18a4000000000000000021' and debit = 'acquirer'"],
      '500 EUR go from acquirer to merchant, outside of the exchange',
    ],
    [
      'postings without a line',
      ["delete from pay.lines where id = '5d18a4000000000000000021'"],
      `3 postings belong to line 5d18a4000000000000000021 of merchant ${liveId}, which does not exist`,
    ],

    [
      'a wrong sum of lines',
      [
        `insert into pay.line_sums values ('${merchantId}', '2019-06-30T13:00:00Z', 2, 365), ('${merchantId}', '2019-07-01T12:00:00Z', 7, 1), ('${merchantId}', '2019-07-12T12:00:00Z', 1, 2)`,
      ],
      `the sum of lines through 2019-07-01T12:00:00.000Z of merchant ${merchantId} is 1 over 7 lines, but they are`,
    ],
    [
      'a sum of nobody',
      [`insert into pay.line_sums values ('${nowhere}', '2019-06-30T13:00:00Z', 0, 0)`],
      `the sum of lines through 2019-06-30T13:00:00.000Z of merchant ${nowhere} belongs to a merchant that does not exist`,
    ],

    [
      'a payout of another amount',
      ['update pay.payouts set amount = 701'],
      `of 2019-07-12 to merchant ${merchantId}: it is 701, but its line 5d18a40000000000000000aa has balance -700`,
    ],
    [
      'a payout whose line is gone',
      ["delete from pay.lines where kind = 'payout'"],
      `of 2019-07-12 to merchant ${merchantId}: its line 5d18a40000000000000000aa does not exist`,
    ],
    [
      'a payout whose line is something else',
      ["update pay.payouts set line_id = '5d18a4000000000000000025'"],
      'its line 5d18a4000000000000000025 is a dispute',
    ],
    [
      'a payout to somebody else',
      ["update pay.payouts set iban = 'DK00'"],
      'it goes to another bank account than its line 5d18a40000000000000000aa says',
    ],
    [
      'a payout with a fee',
      ["update pay.lines set fee = 1 where kind = 'payout'"],
      'its line 5d18a40000000000000000aa has a fee of 1',
    ],
    [
      'a payout in a currency that is not the merchant’s',
      ["update pay.payouts set currency = 'SEK'"],
      'it is in SEK, not in EUR',
    ],
    ['a payout with another test', ['update pay.payouts set test = false'], 'test is false, but true of the merchant'],
    [
      'a payout of the future',
      ["update pay.payouts set created = '2100-01-01'"],
      `of 2019-07-12 to merchant ${merchantId} was created in the future`,
    ],
    [
      'a payout to nobody',
      [`update pay.payouts set merchant_id = '${nowhere}'`],
      `of 2019-07-12 to merchant ${nowhere}: the merchant does not exist`,
    ],

    [
      'a card without a transaction',
      [`update pay.cards set transaction_id = '${nowhere}'`],
      `card 5d18a50000000000000000c1 of merchant ${merchantId}: transaction ${nowhere} does not exist`,
    ],
    [
      'a card of another transaction',
      ["update pay.cards set last4 = '1234'"],
      `card 5d18a50000000000000000c1 of merchant ${merchantId}: transaction `,
    ],
    [
      'a card of another merchant',
      [`update pay.cards set merchant_id = '${liveId}'`],
      `card 5d18a50000000000000000c1 of merchant ${liveId}: transaction `,
    ],
    [
      'a fraud without a transaction',
      [`update pay.frauds set transaction_id = '${nowhere}'`],
      `fraud 5d18a50000000000000000f1 of merchant ${merchantId}: transaction ${nowhere} does not exist`,
    ],
    [
      'a dispute without a transaction',
      [`update pay.disputes set transaction_id = '${nowhere}' where id = '${disputeId.open}'`],
      `dispute ${disputeId.open} of merchant ${merchantId}: transaction ${nowhere} does not exist`,
    ],
    [
      'a dispute that no trail tells of',
      [`delete from pay.trail ${ofTransaction(disputedId.open)} and kind = 'dispute'`],
      `dispute ${disputeId.open} of merchant ${merchantId}: the trail of transaction ${disputedId.open} has 0 entries about it`,
    ],
    [
      'a decided dispute without a line',
      ["delete from pay.lines where id = '5d18a4000000000000000025'"],
      `dispute ${disputeId.won} of merchant ${merchantId}: it is won, but 0 lines of that moment say so`,
    ],
    [
      'a dispute that was decided twice',
      [copyLine(nowhere, {}, "id = '5d18a4000000000000000025'")],
      `dispute ${disputeId.won} of merchant ${merchantId}: it is won, but 2 lines of that moment say so`,
    ],
    [
      'a won dispute that gives too little back',
      ["update pay.lines set balance = 2499 where id = '5d18a4000000000000000025'"],
      `it is won, and line 5d18a4000000000000000025 has balance 2499, not 2500`,
    ],
    [
      'a won dispute that keeps its fee',
      ["update pay.lines set fee = 0 where id = '5d18a4000000000000000025'"],
      `it is won, and line 5d18a4000000000000000025 has fee 0, not -1500`,
    ],
    [
      'a won dispute that kept something',
      [`update pay.trail set balance = -1 ${ofTransaction(disputedId.won)} and kind = 'dispute'`],
      'has balance -1, but gross 1000 and fees 0 and 0 come to 0',
    ],
    [
      'a won dispute with a fee',
      [`update pay.trail set fee_flat = 1500 ${ofTransaction(disputedId.won)} and kind = 'dispute'`],
      'its entry has fees 1500 and 0, but its lines come to 0',
    ],
    [
      'a won dispute that took something else',
      [`update pay.lines set balance = -2499 ${ofTransaction(disputedId.won)} and kind = 'dispute' and won is null`],
      'has balance -2500, but its line',
    ],
    [
      'a lost dispute that takes twice',
      [`update pay.lines set balance = -1000 ${ofTransaction(disputedId.lost)} and won is not null`],
      'has balance -1000, not 0',
    ],

    ['an agreement of nothing', [agreed(nowhere)], `${agreement(nowhere)} belongs to a transaction that does not exist`],
    [
      'an agreement of somebody else’s transaction',
      [agreed(computedId, { merchant_id: `'${liveId}'` })],
      `the agreement of transaction ${computedId} of merchant ${liveId} belongs to a transaction that does not exist`,
    ],
    [
      'an agreement that came of a payment that failed',
      [agreed(declinedId)],
      `${agreement(declinedId)} belongs to a payment that was declined`,
    ],
    [
      'an agreement of the future',
      [agreed(untouchedId, { created: "'2100-01-01'" })],
      `${agreement(untouchedId)} was created in the future, at 2100-01-01T00:00:00.000Z`,
    ],
    [
      'an agreement to nothing',
      [agreed(untouchedId, { unplanned_merchant: 'false' })],
      `${agreement(untouchedId)} agrees to nothing`,
    ],
    [
      'an announcement that nobody follows',
      [agreed(untouchedId, announced)],
      `${agreement(untouchedId)} announces payments, but there is no plan to make them by`,
    ],
    ['a plan that nobody agreed to', [planning(untouchedId)], `${plan(untouchedId)} was not agreed to`],
    [
      'a plan whose agreement announces nothing',
      [agreed(untouchedId), planning(untouchedId)],
      `${plan(untouchedId)} was not agreed to`,
    ],
    [
      'a plan of nothing',
      [agreed(nowhere, announced), planning(nowhere)],
      `${plan(nowhere)} belongs to a transaction that does not exist`,
    ],
    [
      'a plan that came of a payment that failed',
      [agreed(declinedId, announced), planning(declinedId)],
      `${plan(declinedId)} belongs to a payment that was declined`,
    ],
    [
      'a plan that is past its end',
      [agreed(untouchedId, announced), planning(untouchedId, { component: '1' })],
      `${plan(untouchedId)} is at component 1 of 1`,
    ],
    [
      'a plan that counts a payment that nobody made',
      [agreed(untouchedId, announced), planning(untouchedId, { made: '1' })],
      `${plan(untouchedId)} counts 1 payments, but 0 were made`,
    ],
    [
      'a plan that does not count a payment that it made',
      [agreed(untouchedId, announced), planning(untouchedId, { occurrence: '1' }), charged(untouchedId, '0.0.0')],
      `${plan(untouchedId)} counts 0 payments, but 1 were made`,
    ],
    [
      'a plan that counts a payment twice',
      [agreed(untouchedId, announced), planning(untouchedId, { occurrence: '1', made: '2' }), charged(untouchedId, '0.0.0')],
      `${plan(untouchedId)} counts 2 payments, but 1 were made`,
    ],
    [
      'a plan that counts a payment before it is past it',
      [agreed(untouchedId, announced), planning(untouchedId, { made: '1' }), charged(untouchedId, '0.0.0')],
      `${plan(untouchedId)} counts 1 payments, but 0 were made`,
    ],
    [
      'a plan that is finished without its last payment',
      [
        agreed(untouchedId, announced),
        planning(untouchedId, { state: "'finished'", ended: "'2030-01-01'" }),
        charged(untouchedId, '0.0.0'),
      ],
      `${plan(untouchedId)} counts 0 payments, but 1 were made`,
    ],
    [
      'a plan that made what it did not make',
      [agreed(untouchedId, announced), planning(untouchedId, { last_transaction_id: `'${computedId}'` })],
      `${plan(untouchedId)} made transaction ${computedId} last, which is none of its own`,
    ],

    ['a key of nobody', [claim(nowhere)], `the Idempotency-Key with the hash k of ${nowhere} belongs to nobody who exists`],
    [
      'a key that points at no merchant',
      [claim(undefined, nowhere)],
      `the Idempotency-Key with the hash k of 5d18a2ea0000000000000001 points at merchant ${nowhere}, which does not exist`,
    ],
    [
      'a key that points at no transaction',
      [claim(undefined, merchantId, nowhere)],
      `points at transaction ${nowhere}, which does not exist`,
    ],
    [
      'a key that points at somebody else’s transaction',
      [claim(undefined, liveId, computedId)],
      `points at transaction ${computedId}, which does not exist`,
    ],
    [
      'a key that points at no entry',
      [claim(undefined, merchantId, computedId, nowhere)],
      `points at entry ${nowhere} of transaction ${computedId}, which does not exist`,
    ],
  ])('%s', async (_, statements, sentence) => {
    const { breaches, breachCount } = await planted(...statements)
    expect(breaches.join('\n')).toContain(sentence)
    expect(breachCount).toBe(breaches.length)
  })
})

function claim(ownerId = '5d18a2ea0000000000000001', ...pointed: string[]): string {
  const [merchant, transactionId, entry] = [0, 1, 2].map((index) =>
    pointed[index] === undefined ? 'null' : `'${pointed[index]}'`,
  )
  return `insert into pay.idempotency (owner_id, key_hash, fingerprint, method, path, created, merchant_id, transaction_id, entry_id)
    values ('${ownerId}', 'k', '\\x00', 'POST', '/', '2019-07-01', ${merchant}, ${transactionId}, ${entry})`
}

const agreement = (id: string) => `the agreement of transaction ${id} of merchant ${merchantId}`
const plan = (id: string) => `the plan of transaction ${id} of merchant ${merchantId}`

function insertInto(table: string, row: Record<string, string>): string {
  return `insert into pay.${table} (${Object.keys(row).join(', ')}) values (${Object.values(row).join(', ')})`
}

function agreed(id: string, changed: Record<string, string> = {}): string {
  const flags = { unplanned_merchant: 'true', unplanned_customer: 'false' }
  return insertInto('agreements', {
    ...{ merchant_id: `'${merchantId}'`, transaction_id: `'${id}'`, created: "'2030-01-01'", card: "'\\x00'", ...flags },
    ...changed,
  })
}

const announced = { plan: `'[{"amount":{"currency":"EUR","exponent":2,"value":100},"repeat":{"interval":{"unit":"month"}}}]'` }

function planning(id: string, changed: Record<string, string> = {}): string {
  const parts = `'[{"amount":100,"currency":"EUR","first":"2030-01-01T00:00:00.000Z","count":null,"every":{"unit":"month","value":1}}]'`
  const moment = "'2030-01-01'"
  return insertInto('plans', {
    ...{ merchant_id: `'${merchantId}'`, transaction_id: `'${id}'`, created: moment, parts, state: "'active'" },
    ...{ component: '0', occurrence: '0', due: moment, try_at: moment, ...changed },
  })
}

/** That a plan made a payment, which is one of those that are there. */
function charged(id: string, occurrence: string, transactionId = computedId): string {
  return insertInto('idempotency', {
    ...{
      owner_id: `'${merchantId}'`,
      key_hash: `'${hashKey(`plan ${id} ${occurrence}`).toString('hex')}'`,
      fingerprint: "'\\x00'",
    },
    ...{ method: "'PLAN'", path: `'/merchants/${merchantId}/plans/${id}'`, created: "'2030-01-01'" },
    ...{ merchant_id: `'${merchantId}'`, transaction_id: `'${transactionId}'` },
  })
}

describe('of what customers have agreed to', () => {
  test.each<[fact: string, statements: string[]]>([
    ['a card that may be charged', [agreed(untouchedId)]],
    [
      'a card that only its owner may have charged',
      [agreed(untouchedId, { unplanned_merchant: 'false', unplanned_customer: 'true' })],
    ],
    ['a plan before its first payment', [planning(untouchedId)]],
    ['a plan after it', [planning(untouchedId, { occurrence: '1', made: '1' }), charged(untouchedId, '0.0.0')]],
    ['a payment that nobody has written down yet', [planning(untouchedId), charged(untouchedId, '0.0.0')]],
    [
      'one that nobody wrote down before the plan was stopped',
      [
        planning(untouchedId, {
          occurrence: '1',
          tries: '2',
          made: '1',
          state: "'stopped'",
          reason: "'asked'",
          ended: "'2030-01-01'",
        }),
        charged(untouchedId, '0.0.0', computedId),
        charged(untouchedId, '0.1.2', exchangedId),
      ],
    ],
    ['one that was declined', [planning(untouchedId, { tries: '1' }), charged(untouchedId, '0.0.0', declinedId)]],
    [
      'a plan at its end',
      [planning(untouchedId, { state: "'finished'", ended: "'2030-01-01'", made: '1' }), charged(untouchedId, '0.0.0')],
    ],
  ])('%s is right', async (_, statements) => {
    const isPlan = statements.some((statement) => statement.includes('pay.plans'))
    const verdict = await planted(...(isPlan ? [agreed(untouchedId, announced)] : []), ...statements)
    expect(verdict).toMatchObject({ breaches: [], warnings: [], counts: { agreements: 1, plans: isPlan ? 1 : 0 } })
  })

  test('a security code that nobody deleted for an hour is told, but is no breach', async () => {
    const code = (id: string, expires: string) => `insert into pay.security_codes values ('\\x${id}', '\\x00', '${expires}')`
    const [fresh, old] = [code('aa', '2030-01-02T02:05:00Z'), code('ab', '2030-01-02T02:04:00Z')]
    const { breaches, warnings, counts } = await planted(fresh, old)
    expect(breaches).toEqual([])
    expect(warnings).toEqual(['the key of security code ab expired at 2030-01-02T02:04:00.000Z and is still there'])
    expect(counts.securityCodes).toBe(2)
  })
})

test('keys of callers without a name belong to nobody, and that is right', async () => {
  expect(await planted(claim('0'.repeat(24)))).toMatchObject({ breaches: [], counts: { idempotency: 1 } })
})

describe('what is under way', () => {
  const take = `update pay.transactions set capturable = capturable - 100, entries = entries + 1 where id = '${untouchedId}'`
  const pend = (created: string) => `
    insert into pay.trail (merchant_id, transaction_id, id, position, kind, state, created, amount)
    values ('${merchantId}', '${untouchedId}', '5d18a4000000000000000031', 1, 'capture', 'pending', '${created}', 100)`

  test('is no breach, whatever the simulator made of it', async () => {
    const done = `
      insert into pay.simulator_operations (merchant_id, reference, authorization_reference, kind, amount, currency, approved, created)
      values ('${merchantId}', '5d18a4000000000000000031', '${untouchedId}', 'capture', 100, 'EUR', true, '2030-01-02')`
    expect(await planted(take, pend('2030-01-02T03:00:00Z'))).toMatchObject({ breaches: [], warnings: [] })
    expect(await planted(take, pend('2030-01-02T03:00:00Z'), done)).toMatchObject({ breaches: [], warnings: [] })
  })

  test('is a breach where nothing was taken for it', async () => {
    const { breaches } = await planted(
      `update pay.transactions set entries = 1 where id = '${untouchedId}'`,
      pend('2030-01-02T03:00:00Z'),
    )
    expect(breaches).toEqual([
      `${transaction(untouchedId)}capturable is 450, but 350 is left of 450: captured 0, voided 0, under way 100`,
    ])
  })

  test('and takes more than an hour is told, but is no breach', async () => {
    const { breaches, warnings, warningCount } = await planted(take, pend('2030-01-02T02:00:00Z'))
    expect(breaches).toEqual([])
    expect(warningCount).toBe(1)
    expect(warnings[0]).toMatch(
      `${transaction(untouchedId)}its capture 5d18a4000000000000000031 of 100 has been pending since 2030-01-02T02:00:00`,
    )
  })

  test('is told of authorizations, too', async () => {
    const { breaches, warnings } = await planted(
      `update pay.transactions set state = 'pending', capturable = 0 where id = '${untouchedId}'`,
    )
    expect(breaches).toEqual([])
    expect(warnings).toEqual([
      `transaction ${untouchedId} of merchant ${merchantId} has been pending since 2019-06-30T12:10:00.000Z`,
    ])
  })

  test('is a refund that is counted as returned already, and one that failed is not', async () => {
    const move = (state: string) => `
      insert into pay.trail (merchant_id, transaction_id, id, position, kind, state, created, amount, gross, fee_rate, balance, settled,
        settlement)
      values ('${merchantId}', '${computedId}', '5d18a4000000000000000031', 4, 'refund', '${state}', '2030-01-02T03:00:00Z', 100, 100, -3, -97,
        ${state === 'failed' ? "'2030-01-02T03:00:00Z', 4" : 'null, null'})`
    const counted = `update pay.transactions set entries = 4, settlements = 3 where id = '${computedId}'`
    const settled = `update pay.transactions set settlements = 4 where id = '${computedId}'`
    const taken = `update pay.transactions set refundable = refundable - 100, returned = returned + 100, returned_gross = returned_gross + 100,
      returned_rate_fee = returned_rate_fee + 3 where id = '${computedId}'`
    expect((await planted(move('pending'), counted, taken)).breaches).toEqual([])
    expect((await planted(move('failed'), counted, settled)).breaches).toEqual([])
    expect((await planted(move('failed'), counted, settled, taken)).breachCount).toBeGreaterThan(0)
  })
})

test('the accounts are added up, and come to nothing in every currency', async () => {
  const { balances } = await verify(service.app.db, service.now())
  expect(balances).toContainEqual({ currency: 'EUR', account: 'payouts', amount: 700n })
  for (const [, accounts = []] of Object.entries(Object.groupBy(balances, ({ currency }) => currency)))
    expect(accounts.reduce((sum, { amount }) => sum + amount, 0n)).toBe(0n)
})

test.each(['EUR', 'JPY'])('what the service itself does with %s is without a breach', async (currency) => {
  const own = await startPayments()
  onTestFinished(() => own.stop())
  const { app, now } = own
  const merchant = await plantMerchant(own, { currency: 'EUR' })
  const disputable = async (amount: number) => {
    const id = await plantTransaction(own, { merchantId: merchant.id, amount: 9999, currency })
    const move = async (kind: string, moved: number) => {
      const headers = { authorization: merchant.authorization, 'idempotency-key': [id, kind, moved].join('-') }
      const { status, text } = await own.call(`POST /transactions/${id}/${kind}`, { headers, json: { amount: moved } })
      expect(status, text).toBe(201)
    }
    await move('captures', 3333)
    await move('captures', 3334)
    await move('refunds', 1111)
    await move('voids', 1000)
    const facts = { merchantId: merchant.id, transactionId: id, acquirerReference: id, due: now(), amount }
    const dispute = await recordDispute(app, { ...facts, reason: { code: 4853, title: 'Cardholder Dispute' } })
    return { dispute: { merchantId: merchant.id, disputeId: dispute.id }, move }
  }
  const [open, won, lost, overlapping] = [
    await disputable(100),
    await disputable(5556),
    await disputable(777),
    await disputable(6667),
  ]
  await decideDispute(app, { ...won.dispute, won: true })
  await decideDispute(app, { ...lost.dispute, won: false })
  await won.move('refunds', 5556)
  await lost.move('refunds', 7)
  await open.move('refunds', 9)
  expect((await verify(app.db, now())).breaches).toEqual([])
  await decideDispute(app, { ...overlapping.dispute, won: true })
  now.advance(86_400)
  await runPayouts(app, { day: now().toISOString().slice(0, 10) })
  const { breaches, counts } = await verify(app.db, now())
  expect(breaches).toEqual([])
  expect(counts).toMatchObject({ transactions: 4, disputes: 4, trail: 23, idempotency: 19 })
})

test('a thousand sentences are kept, and all of them are counted, however many pages on', async () => {
  const { breaches, breachCount, counts } = await planted(`
    insert into pay.apps (id, key_hash, created)
    select '5d18a2ea' || lpad(to_hex(number), 16, '0'), sha256(number::text::bytea), '2100-01-01' from generate_series(16, 1515) number`)
  expect(counts.apps).toBe(1501)
  expect(breaches).toHaveLength(1000)
  expect(breachCount).toBe(1500)
})

test('it sees one moment while money moves, and finds nothing wrong with that', async () => {
  const own = await startPayments()
  onTestFinished(() => own.stop())
  await seed(own.app, everything())
  const headers = { authorization: basic(everything().apps[0]?.key ?? '') }
  let moves = 0
  const move = async () => {
    const kind = moves++ % 2 === 0 ? 'captures' : 'refunds'
    const { status, text } = await own.call(`POST /transactions/${untouchedId}/${kind}`, { headers, json: { amount: 1 } })
    expect(status, text).toBe(201)
  }
  const before = await verify(own.app.db, own.now())
  const meanwhile = await verify(disturbed(own.app.db, move), own.now(), 5)
  expect(moves).toBeGreaterThan(30)
  expect(meanwhile).toEqual(before)
  expect(meanwhile.breaches).toEqual([])

  const after = await verify(own.app.db, own.now())
  expect(after.breaches).toEqual([])
  expect(after.counts.lines).toBe(before.counts.lines + moves)
})

/** Something happens after every statement that has looked at anything. */
function disturbed(db: Db, disturb: () => Promise<void>): Db {
  const begin = (story: (tx: Tx) => Promise<unknown>) =>
    db.begin((tx) =>
      story((async (template: TemplateStringsArray, ...values: never[]) => {
        const rows = await tx(template, ...values)
        if (!isHolding(template)) await disturb()
        return rows
      }) as unknown as Tx),
    )
  return Object.assign(db.bind({}), { begin }) as unknown as Db
}
