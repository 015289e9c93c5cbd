import { expect, test } from 'vitest'
import { type Batch, majorAmount, type Transfer, type TransferFile, writePain001 } from './pain001.ts'

type Element = { name: string; attributes: Record<string, string>; children: Element[]; text: string }

const references: Record<string, string> = { '&#38;': '&', '&#60;': '<', '&#62;': '>', '&#34;': '"', '&#39;': "'" }

/** Reads what we write and nothing else: no comments, no entities but characters, no text beside elements. Throws where it is not well-formed. */
function parseXml(text: string): Element {
  const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n'
  if (!text.startsWith(declaration)) throw new Error('no declaration')
  const root: Element = { name: '', attributes: {}, children: [], text: '' }
  const open = [root]
  const pattern = /<(\/?)([A-Za-z0-9]+)((?: [A-Za-z]+="[^"<&]*")*)>|([^<]+)/y
  pattern.lastIndex = declaration.length
  while (pattern.lastIndex < text.length) {
    const place = pattern.lastIndex
    const [, slash, name, attributes, characters] = pattern.exec(text) ?? []
    const current = open.at(-1) as Element
    if (characters !== undefined) current.text += unescaped(characters)
    else if (name === undefined) throw new Error(`not well-formed at ${JSON.stringify(text.slice(place, place + 40))}`)
    else if (slash === '/') {
      if (current.name !== name) throw new Error(`${current.name} ends as ${name}`)
      open.pop()
    } else {
      const element = { name, attributes: readAttributes(attributes ?? ''), children: [], text: '' }
      current.children.push(element)
      open.push(element)
    }
  }
  if (open.length !== 1 || root.children.length !== 1) throw new Error('not one root that ends')
  return root.children[0] as Element
}

function unescaped(characters: string): string {
  return characters.replace(/&[^;]*;?|>/g, (reference) => {
    const meant = references[reference]
    if (meant === undefined) throw new Error(`${reference} stands bare`)
    return meant
  })
}

function readAttributes(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/ ([A-Za-z]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]))
}

const name = /^[A-Za-z0-9/\-?:().,'+ ]{1,70}$/
const identifier = /^[A-Za-z0-9-]{1,35}$/
const decimal = /^\d{1,18}(\.\d{1,5})?$/
const iban = /^[A-Z]{2}\d{2}[A-Za-z0-9]{1,30}$/

/** The part of the published schema that we use, in its order: what may be missing has a question mark, what may come again a plus. */
const schema: Record<string, readonly string[] | RegExp> = {
  Document: ['CstmrCdtTrfInitn'],
  CstmrCdtTrfInitn: ['GrpHdr', 'PmtInf+'],
  GrpHdr: ['MsgId', 'CreDtTm', 'NbOfTxs', 'CtrlSum', 'InitgPty'],
  PmtInf: [
    ...['PmtInfId', 'PmtMtd', 'NbOfTxs', 'CtrlSum', 'PmtTpInf?', 'ReqdExctnDt', 'Dbtr', 'DbtrAcct', 'DbtrAgt', 'ChrgBr'],
    'CdtTrfTxInf+',
  ],
  PmtTpInf: ['SvcLvl'],
  SvcLvl: ['Cd'],
  ReqdExctnDt: ['Dt'],
  InitgPty: ['Nm'],
  Dbtr: ['Nm'],
  Cdtr: ['Nm'],
  DbtrAcct: ['Id'],
  CdtrAcct: ['Id'],
  DbtrAgt: ['FinInstnId'],
  FinInstnId: ['BICFI?', 'Othr?'],
  Othr: ['Id'],
  CdtTrfTxInf: ['PmtId', 'Amt', 'Cdtr', 'CdtrAcct', 'RmtInf'],
  PmtId: ['EndToEndId'],
  Amt: ['InstdAmt'],
  RmtInf: ['Ustrd'],
  MsgId: identifier,
  PmtInfId: identifier,
  EndToEndId: identifier,
  CreDtTm: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
  NbOfTxs: /^\d{1,15}$/,
  CtrlSum: decimal,
  InstdAmt: decimal,
  PmtMtd: /^TRF$/,
  Cd: /^SEPA$/,
  Dt: /^\d{4}-\d\d-\d\d$/,
  Nm: name,
  IBAN: iban,
  BICFI: /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/,
  ChrgBr: /^(SLEV|SHAR)$/,
  Ustrd: name,
}

function expectValid(element: Element) {
  const rule = element.name === 'Id' ? (element.children.length > 0 ? ['IBAN'] : identifier) : schema[element.name]
  if (rule === undefined) throw new Error(`${element.name} is unknown`)
  if (rule instanceof RegExp) {
    expect(element.children).toEqual([])
    expect([element.name, element.text]).toEqual([element.name, expect.stringMatching(rule)])
    return
  }
  expect(element.text.trim()).toBe('')
  const order = new RegExp(`^${rule.map((each) => each.replace(/^(\w+)([?+]?)$/, '(?:$1 )$2')).join('')}$`)
  expect(element.children.map((child) => `${child.name} `).join('')).toMatch(order)
  for (const child of element.children) expectValid(child)
}

function at(element: Element, path: string): Element[] {
  return path
    .split('/')
    .reduce((found, step) => found.flatMap(({ children }) => children.filter((child) => child.name === step)), [element])
}

function texts(element: Element, path: string): string[] {
  return at(element, path).map(({ text }) => text)
}

async function* each(transfers: readonly Transfer[]) {
  yield* transfers
}

function batch(currency: string, transfers: readonly Transfer[]): Batch {
  const total = transfers.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  return { currency, count: transfers.length, total, transfers: each(transfers) }
}

function transfer(given: Partial<Transfer> = {}): Transfer {
  return {
    ...{ id: '5e1a2b3c4d5e6f7081920a1b', amount: 1999, iban: 'DK5000400440116243', holder: 'Shop' },
    ...{ description: 'Payout 2030-01-03', ...given },
  }
}

function file(batches: readonly Batch[], given: Partial<TransferFile> = {}): TransferFile {
  return {
    name: 'PAYOUTS-20300103',
    created: new Date('2030-01-03T04:05:06.789Z'),
    day: '2030-01-03',
    debtor: { name: 'Tollgate ApS', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' },
    batches,
    ...given,
  }
}

async function write(given: TransferFile): Promise<string> {
  let text = ''
  for await (const piece of writePain001(given)) text += piece
  return text
}

async function written(given: TransferFile): Promise<Element> {
  const document = parseXml(await write(given))
  expectValid(document)
  return document
}

test('a file names its sender, its day, every transfer, how many there are and what they add up to', async () => {
  const transfers = [transfer(), transfer({ id: '5e1a2b3c4d5e6f7081920a1c', amount: 1, iban: 'NL91ABNA0417164300' })]
  const document = await written(file([batch('EUR', transfers)]))
  expect(document.attributes).toEqual({ xmlns: 'urn:iso:std:iso:20022:tech:xsd:pain.001.001.09' })
  const header = 'CstmrCdtTrfInitn/GrpHdr'
  expect(texts(document, `${header}/MsgId`)).toEqual(['PAYOUTS-20300103'])
  expect(texts(document, `${header}/CreDtTm`)).toEqual(['2030-01-03T04:05:06Z'])
  expect(texts(document, `${header}/NbOfTxs`)).toEqual(['2'])
  expect(texts(document, `${header}/CtrlSum`)).toEqual(['20.00'])
  const part = 'CstmrCdtTrfInitn/PmtInf'
  expect(texts(document, `${part}/ReqdExctnDt/Dt`)).toEqual(['2030-01-03'])
  expect(texts(document, `${part}/Dbtr/Nm`)).toEqual(['Tollgate ApS'])
  expect(texts(document, `${part}/DbtrAcct/Id/IBAN`)).toEqual(['DE89370400440532013000'])
  expect(texts(document, `${part}/DbtrAgt/FinInstnId/BICFI`)).toEqual(['COBADEFFXXX'])
  expect(texts(document, `${part}/CdtTrfTxInf/PmtId/EndToEndId`)).toEqual(transfers.map(({ id }) => id))
  expect(texts(document, `${part}/CdtTrfTxInf/Amt/InstdAmt`)).toEqual(['19.99', '0.01'])
  expect(texts(document, `${part}/CdtTrfTxInf/CdtrAcct/Id/IBAN`)).toEqual(['DK5000400440116243', 'NL91ABNA0417164300'])
  expect(texts(document, `${part}/CdtTrfTxInf/RmtInf/Ustrd`)).toEqual(['Payout 2030-01-03', 'Payout 2030-01-03'])
})

test('every currency has a part and a sum of its own, and only euros go the way of the euro area', async () => {
  const batches = [
    batch('DKK', [transfer({ amount: 5 })]),
    batch('EUR', [transfer(), transfer()]),
    batch('JPY', [transfer({ amount: 7 })]),
  ]
  const document = await written(file(batches))
  expect(texts(document, 'CstmrCdtTrfInitn/GrpHdr/NbOfTxs')).toEqual(['4'])
  expect(texts(document, 'CstmrCdtTrfInitn/GrpHdr/CtrlSum')).toEqual(['47.03'])
  const parts = at(document, 'CstmrCdtTrfInitn/PmtInf')
  const facts = parts.map((part) =>
    ['PmtInfId', 'NbOfTxs', 'CtrlSum', 'PmtTpInf/SvcLvl/Cd', 'ChrgBr'].flatMap((path) => texts(part, path)),
  )
  expect(facts).toEqual([
    ['PAYOUTS-20300103-DKK', '1', '0.05', 'SHAR'],
    ['PAYOUTS-20300103-EUR', '2', '39.98', 'SEPA', 'SLEV'],
    ['PAYOUTS-20300103-JPY', '1', '7', 'SHAR'],
  ])
  expect(parts.map((part) => at(part, 'CdtTrfTxInf/Amt/InstdAmt').map(({ attributes }) => attributes.Ccy))).toEqual([
    ['DKK'],
    ['EUR', 'EUR'],
    ['JPY'],
  ])
})

test.each([
  ['Rødgrød & Fløde <ApS>', 'Roedgroed + Floede .ApS.'],
  ["O'Brien", "O'Brien"],
  [']]>&amp;"', ")).+amp,'"],
  ['日本', 'NOTPROVIDED'],
  ['x'.repeat(200), 'x'.repeat(70)],
])('the holder %s is written %s, and the file stays well-formed', async (holder, expected) => {
  const debtor = { name: holder, iban: 'DE89370400440532013000', bic: undefined }
  const document = await written(file([batch('EUR', [transfer({ holder })])], { debtor }))
  expect(texts(document, 'CstmrCdtTrfInitn/PmtInf/CdtTrfTxInf/Cdtr/Nm')).toEqual([expected])
  expect(texts(document, 'CstmrCdtTrfInitn/GrpHdr/InitgPty/Nm')).toEqual([expected])
})

test('a bank that is told by the IBAN alone is said to be so', async () => {
  const debtor = { name: 'Tollgate', iban: 'DE89370400440532013000', bic: undefined }
  const document = await written(file([batch('EUR', [transfer()])], { debtor }))
  expect(texts(document, 'CstmrCdtTrfInitn/PmtInf/DbtrAgt/FinInstnId/Othr/Id')).toEqual(['NOTPROVIDED'])
})

test('the same payouts give the same bytes', async () => {
  const given = () => file([batch('EUR', [transfer(), transfer({ holder: 'Müller' })])])
  expect(await write(given())).toBe(await write(given()))
})

test('many transfers come in few pieces, none of them long, and in their order', async () => {
  const transfers = Array.from({ length: 2_000 }, (_, index) => transfer({ id: `transfer${index}` }))
  const pieces: string[] = []
  for await (const piece of writePain001(file([batch('EUR', transfers)]))) pieces.push(piece)
  expect(pieces.length).toBeLessThan(20)
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(70_000)
  const found = [...pieces.join('').matchAll(/<EndToEndId>(\w+)</g)].map(([, id]) => id)
  expect(found).toEqual(transfers.map(({ id }) => id))
})

test('no more is read ahead than the piece that is asked for', async () => {
  let read = 0
  async function* counted(transfers: readonly Transfer[]) {
    for (const each of transfers) {
      read++
      yield each
    }
  }
  const transfers = Array.from({ length: 2_000 }, () => transfer())
  const pieces = writePain001(file([{ ...batch('EUR', transfers), transfers: counted(transfers) }]))
  for (let piece = ''; !piece.includes('<CdtTrfTxInf>'); ) piece = (await pieces.next()).value ?? ''
  expect(read).toBeGreaterThan(0)
  expect(read).toBeLessThan(400)
})

test('a file whose transfers are not what its head says is never finished', async () => {
  const lost = { ...batch('EUR', [transfer()]), count: 2 }
  await expect(write(file([lost]))).rejects.toThrow('they changed while they were read')
  const changed = { ...batch('EUR', [transfer()]), total: 2000n }
  await expect(write(file([changed]))).rejects.toThrow('they changed while they were read')
})

test.each([
  [1n, 'EUR', '0.01'],
  [100n, 'EUR', '1.00'],
  [9_007_199_254_740_991n, 'EUR', '90071992547409.91'],
  [9_007_199_254_740_991_000n, 'EUR', '90071992547409910.00'],
  [5n, 'JPY', '5'],
  [5n, 'KWD', '0.005'],
])('%s minor units of %s are %s', (amount, currency, text) => {
  expect(majorAmount(amount, currency)).toBe(text)
})

test('what is not a currency has no decimals to guess', () => {
  expect(() => majorAmount(5n, 'XYZ')).toThrow('XYZ is not a currency')
})
