/** A file with everything in it that a seed can have. A function, so that a test may change what it got. */
export function everything() {
  return {
    apps: [
      {
        id: '5d18a2ea0000000000000001',
        name: 'Shop',
        key: '4f1f3c8e-7d1c-4a2b-9c3d-000000000001',
        created: '2019-06-30T12:08:42.816Z',
      },
    ],
    merchants: [
      {
        id: merchantId,
        key: '4f1f3c8e-7d1c-4a2b-9c3d-0000000000a1',
        created: '2019-06-30T12:08:43.000Z',
        name: 'Tea & Toast',
        currency: 'EUR',
        test: true,
        email: 'shop@example.com',
        website: 'https://shop.test',
        descriptor: 'Tea and Toast',
        company: { country: 'DK', number: '12345678' },
        bank: { iban: 'DK5000400440116243' },
        balance: undefined as number | undefined,
        pricing: { rate: 0.025, flat: { currency: 'EUR', amount: 25 }, dispute: { currency: 'EUR', amount: 1500 } },
        claim: {
          canChargeCard: true,
          canSaveCard: false,
          canTransferToCard: false,
          canCapture: true,
          canRefund: true,
          canVoid: true,
        },
        tds: { mode: 'full' },
        payouts: 'weekly',
        plans: 'capture',
        accent: '#0b6e4f',
        apps: ['5d18a2ea0000000000000001'],
        users: ['Ada@Example.com'],
      },
      {
        id: liveId,
        key: '4f1f3c8e-7d1c-4a2b-9c3d-0000000000a2',
        created: '2019-06-30T12:08:43.000Z',
        currency: 'DKK',
        email: 'live@example.com',
        website: 'live.test',
        descriptor: 'Live',
        company: { country: 'DK' },
        apps: ['5d18a2ea0000000000000001'],
      },
    ],
    transactions: [
      computed(),
      recorded(),
      declined(),
      disputed('open'),
      disputed('won'),
      disputed('lost'),
      exchanged(),
      untouched(),
    ],
    lines: [
      {
        id: '5d18a4000000000000000021',
        merchantId: liveId,
        test: false,
        created: '2019-06-30T12:30:00.100Z',
        balance: 3379,
        fee: 283,
        amount: { currency: 'EUR', amount: 500 },
        transactionId: recordedId,
        description: 'as it was',
        capture: true,
      },
      {
        id: '5d18a4000000000000000025',
        merchantId,
        created: '2019-07-10T00:00:00.000Z',
        balance: 2500,
        fee: -1500,
        amount: { currency: 'EUR', amount: 1000 },
        transactionId: disputedId.won,
        dispute: true,
        won: true,
      },
      {
        id: '5d18a40000000000000000aa',
        merchantId,
        created: '2019-07-12T04:00:00.000Z',
        balance: -700,
        fee: 0,
        amount: { currency: 'EUR', amount: 700 },
        payout: true,
        bank: { iban: 'DK5000400440116243' },
      },
    ],
    cards: [
      {
        id: '5d18a50000000000000000c1',
        merchantId,
        created: '2019-07-01T10:00:00.000Z',
        ...card,
        notes: 'the blue one',
      },
    ],
    disputes: (['open', 'won', 'lost'] as const).map((outcome) => ({
      id: disputeId[outcome],
      merchantId,
      transactionId: disputedId[outcome],
      created: '2019-07-02T09:00:00.000Z',
      amount: 1000,
      reason: { code: 4853, title: 'Cardholder Dispute' },
      due: '2019-07-20T00:00:00.000Z',
    })),
    frauds: [
      {
        id: '5d18a50000000000000000f1',
        merchantId,
        transactionId: computedId,
        created: '2019-07-02T09:00:00.000Z',
        reported: '2019-07-01T00:00:00.000Z',
        reason: 6,
      },
    ],
  }
}

export const merchantId = '5d18a2eb00000000000000a1'
export const liveId = '5d18a2eb00000000000000a2'
export const computedId = '5d18a3000000000000000001'
export const recordedId = '5d18a3000000000000000002'
export const declinedId = '5d18a3000000000000000003'
export const exchangedId = '5d18a3000000000000000007'
export const untouchedId = '5d18a3000000000000000008'
export const disputedId = {
  open: '5d18a3000000000000000004',
  won: '5d18a3000000000000000005',
  lost: '5d18a3000000000000000006',
}
export const disputeId = {
  open: '5d18a50000000000000000d4',
  won: '5d18a50000000000000000d5',
  lost: '5d18a50000000000000000d6',
}

const card = { bin: '410000', last4: '0000', expiry: '2066-08-31T23:59:59.999Z', scheme: 'visa' }

const usual = {
  merchantId,
  created: '2019-06-30T12:10:00.000Z',
  currency: 'EUR',
  card: { ...card, code: { present: true } },
}

/** Only what happened: what it cost follows from the price. */
function computed() {
  return {
    ...usual,
    id: computedId,
    amount: 1000,
    trail: [
      { capture: true, created: '2019-06-30T12:20:00.000Z', amount: 600 },
      { refund: true, created: '2019-06-30T12:20:00.000Z', amount: 200 },
      { void: true, created: '2019-06-30T12:40:00.000Z', amount: 100 },
    ] as Record<string, unknown>[],
  }
}

/** As another installation answered, to the last figure. */
export function recorded() {
  return {
    id: recordedId,
    test: false,
    merchantId: liveId,
    created: '2019-06-30T12:10:00.123Z',
    amount: 500,
    refundedAmount: 333,
    capturedAmount: 500,
    voidedAmount: 0,
    pendingAmount: 0,
    disputedAmount: 0,
    card: { bin: '500000', last4: '1111', expiry: '2020-08-31T21:59:59.999Z', code: { present: false }, scheme: 'mastercard' },
    tds: 'attempt',
    currency: 'EUR',
    custom: { order: '7', lines: [1, 2] },
    recurring: true,
    successful: true,
    error: false,
    descriptor: 'Order 7',
    trail: [
      {
        fee: { flat: 191, rate: 92 },
        amount: 500,
        balance: 3379,
        created: '2019-06-30T12:30:00.000Z',
        capture: true,
        descriptor: 'Captured',
        lineId: '5d18a4000000000000000021',
      },
      {
        fee: { flat: 0, rate: -61 },
        amount: 333,
        balance: -2378,
        created: '2019-06-30T12:40:00.000Z',
        refund: true,
        descriptor: 'Order 7',
        lineId: '5d18a4000000000000000022',
      },
    ],
  }
}

function declined() {
  return { ...usual, id: declinedId, amount: 800, successful: false, error: { code: 7, message: 'Insufficient funds' } }
}

function disputed(outcome: 'open' | 'won' | 'lost') {
  const decision = outcome === 'open' ? {} : { [outcome]: true }
  return {
    ...usual,
    id: disputedId[outcome],
    amount: 1000,
    trail: [
      { capture: true, created: '2019-07-01T00:00:00.000Z', amount: 1000 },
      { dispute: { id: disputeId[outcome], ...decision }, created: '2019-07-02T09:00:00.000Z', amount: 1000 },
    ],
  }
}

function exchanged() {
  return {
    ...usual,
    id: exchangedId,
    currency: 'JPY',
    amount: 10_000,
    trail: [
      { capture: true, created: '2019-07-01T00:00:00.000Z', amount: 10_000 },
      { refund: true, created: '2019-07-02T00:00:00.000Z', amount: 3333 },
    ],
  }
}

function untouched() {
  return { ...usual, id: untouchedId, amount: 450, tds: 'full', recurring: false, custom: null, error: false }
}
