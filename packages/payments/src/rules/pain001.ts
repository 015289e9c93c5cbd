import { html as xml } from '@tollgate/kit/html'
import { bankText } from './bank-text.ts'
import { exponentOf } from './currencies.ts'

export type Debtor = { name: string; iban: string; bic: string | undefined }

export type Transfer = { id: string; amount: number; iban: string; holder: string; description: string }

/** All transfers in one currency, whose number and sum stand before them in the file. */
export type Batch = { currency: string; count: number; total: bigint; transfers: AsyncIterable<Transfer> }

/** The name tells the bank whether it has had the file before. */
export type TransferFile = { name: string; created: Date; day: string; debtor: Debtor; batches: readonly Batch[] }

/**
 * A file by which a bank is told to pay: ISO 20022 pain.001.001.09, piece by piece. The same payouts give the same bytes.
 * https://www.iso20022.org/catalogue-messages/iso-20022-messages-archive?search=pain.001
 */
export async function* writePain001(file: TransferFile): AsyncGenerator<string> {
  const { name, created, debtor, batches } = file
  const count = batches.reduce((sum, batch) => sum + batch.count, 0)
  yield '<?xml version="1.0" encoding="UTF-8"?>\n'
  yield '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09">\n<CstmrCdtTrfInitn>\n'
  yield xml`<GrpHdr>
<MsgId>${name}</MsgId>
<CreDtTm>${created.toISOString().slice(0, 19)}Z</CreDtTm>
<NbOfTxs>${count}</NbOfTxs>
<CtrlSum>${sumOf(batches)}</CtrlSum>
<InitgPty><Nm>${nameOf(debtor.name)}</Nm></InitgPty>
</GrpHdr>
`.text
  for (const batch of batches) {
    yield beginBatch(file, batch)
    yield* writeTransfers(batch)
    yield '</PmtInf>\n'
  }
  yield '</CstmrCdtTrfInitn>\n</Document>\n'
}

function beginBatch({ name, day, debtor }: TransferFile, { currency, count, total }: Batch): string {
  // Only euros go the way of the single euro payments area, on which both sides bear their own charges.
  const euro = currency === 'EUR'
  return xml`<PmtInf>
<PmtInfId>${name}-${currency}</PmtInfId>
<PmtMtd>TRF</PmtMtd>
<NbOfTxs>${count}</NbOfTxs>
<CtrlSum>${majorAmount(total, currency)}</CtrlSum>
${euro && xml`<PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl></PmtTpInf>\n`}<ReqdExctnDt><Dt>${day}</Dt></ReqdExctnDt>
<Dbtr><Nm>${nameOf(debtor.name)}</Nm></Dbtr>
<DbtrAcct><Id><IBAN>${debtor.iban}</IBAN></Id></DbtrAcct>
<DbtrAgt><FinInstnId>${debtor.bic === undefined ? xml`<Othr><Id>NOTPROVIDED</Id></Othr>` : xml`<BICFI>${debtor.bic}</BICFI>`}</FinInstnId></DbtrAgt>
<ChrgBr>${euro ? 'SLEV' : 'SHAR'}</ChrgBr>
`.text
}

/** Whoever writes a piece takes twice as long over it as over making a transfer: so many characters go together. */
const pieceLength = 65_536

async function* writeTransfers({ currency, count, total, transfers }: Batch): AsyncGenerator<string> {
  let [written, sum, piece] = [0, 0n, '']
  for await (const { id, amount, iban, holder, description } of transfers) {
    written++
    sum += BigInt(amount)
    piece += xml`<CdtTrfTxInf>
<PmtId><EndToEndId>${id}</EndToEndId></PmtId>
<Amt><InstdAmt Ccy="${currency}">${majorAmount(BigInt(amount), currency)}</InstdAmt></Amt>
<Cdtr><Nm>${nameOf(holder)}</Nm></Cdtr>
<CdtrAcct><Id><IBAN>${iban}</IBAN></Id></CdtrAcct>
<RmtInf><Ustrd>${bankText(description)}</Ustrd></RmtInf>
</CdtTrfTxInf>
`.text
    if (piece.length < pieceLength) continue
    yield piece
    piece = ''
  }
  yield piece
  if (written !== count || sum !== total)
    throw new Error(
      `${currency}: ${written} transfers of ${sum} in all were to be ${count} of ${total}: they changed while they were read`,
    )
}

/** A file names nobody by an empty name, nor by full stops alone. */
function nameOf(text: string): string {
  const name = bankText(text)
  return /[A-Za-z0-9]/.test(name) ? name : 'NOTPROVIDED'
}

/** An amount with all the decimals of its currency: 250 EUR is 2.50. */
export function majorAmount(amount: bigint, currency: string): string {
  return decimal(amount, decimalsOf(currency))
}

/** Of all amounts, whatever their currencies: banks compare it with what arrived. */
function sumOf(batches: readonly Batch[]): string {
  const most = Math.max(...batches.map(({ currency }) => decimalsOf(currency)))
  return decimal(
    batches.reduce((sum, { total, currency }) => sum + total * 10n ** BigInt(most - decimalsOf(currency)), 0n),
    most,
  )
}

function decimal(amount: bigint, decimals: number): string {
  const digits = String(amount).padStart(decimals + 1, '0')
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

function decimalsOf(currency: string): number {
  const exponent = exponentOf(currency)
  if (exponent === undefined) throw new Error(`${currency} is not a currency`)
  return exponent
}
