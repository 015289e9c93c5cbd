import { type Fetch, type Fetched, OutsideTrouble } from '@tollgate/kit/fetch'
import type { Secret } from '@tollgate/kit/secret'
import { type GatewayName, gateways } from './all.ts'
import type { Gateway, Message } from './gateway.ts'
import { outsiderTrouble, refusal, SmsTrouble, statusIsTemporary } from './trouble.ts'

/** A gateway with all that it needs to send. */
export type ReadyGateway = {
  gateway: Gateway
  /** Credentials and options by the names that the gateway gives them. */
  credentials: Readonly<Record<string, Secret | undefined>>
  /** Instead of the gateway's public address. */
  base?: string | undefined
}

export function gatewayNamed(name: GatewayName): Gateway {
  return gateways.find((gateway) => gateway.name === name) as Gateway
}

/** Hands a message to a gateway and answers with its id there, which is empty where the gateway gives none. */
export async function sendSms(ready: ReadyGateway, fetch: Fetch, message: Message): Promise<{ id: string }> {
  const { name, wire } = ready.gateway
  const credentials: Record<string, string> = {}
  for (const [credential, secret] of Object.entries(ready.credentials)) if (secret) credentials[credential] = secret.reveal()
  const { path, headers, form } = wire.request(credentials, message)

  const answer = await fetch(`${ready.base ?? wire.base}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json', ...headers },
    body: new URLSearchParams(form).toString(),
    asked: name,
  }).catch((problem: unknown) => {
    throw problem instanceof OutsideTrouble ? outsiderTrouble(name, problem) : problem
  })
  const accepted = answer.status >= 200 && answer.status < 300
  const reply = readObject(answer)
  // Somebody took the message, or something else entirely stands at this address: nobody can tell.
  if (accepted && !reply)
    throw new SmsTrouble(name, `answered ${answer.status} with nonsense`, { temporary: true, maybeSent: true })

  const { id, refused } = wire.outcome(reply ?? {})
  if (accepted && !refused) return { id: wordOf(id) ?? '' }
  const unspeakable = [...Object.values(credentials), message.text, ...(message.text.match(/\d{4,}/g) ?? [])]
  throw refusal(name, {
    status: answer.status,
    code: speakable(wordOf(refused?.code), unspeakable),
    reason: speakable(wordOf(refused?.reason), unspeakable),
    temporary: refused?.temporary || statusIsTemporary(answer.status),
  })
}

function readObject(answer: Fetched): object | undefined {
  try {
    const reply = answer.json()
    return typeof reply === 'object' && reply !== null && !Array.isArray(reply) ? reply : undefined
  } catch {
    return undefined
  }
}

function wordOf(value: unknown): string | undefined {
  return (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined
}

/** A gateway may repeat what it was sent; then its own words are left out, and the code has to do. */
function speakable(words: string | undefined, unspeakable: readonly string[]): string | undefined {
  return words !== undefined && unspeakable.some((each) => each !== '' && words.includes(each)) ? undefined : words
}
