import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Given } from './requests.ts'

export type Answer = { status: number; contentType: string; body: string }

/** One request on a connection of its own, for preparing and for asking whether a service is there. */
export function ask(port: number, method: string, path: string, { headers: more = {}, json }: Given = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { ...more, ...(json === undefined ? {} : { 'content-type': 'application/json' }) }
    const asking = request({ host: '127.0.0.1', port, method, path, headers, agent: false, timeout: 30_000 }, (message) => {
      const chunks: Buffer[] = []
      message.on('data', (chunk: Buffer) => chunks.push(chunk))
      message.on('error', reject)
      message.on('end', () => {
        const contentType = message.headers['content-type'] ?? ''
        resolve({ status: message.statusCode ?? 0, contentType, body: Buffer.concat(chunks).toString() })
      })
    })
    asking.on('timeout', () => asking.destroy(new Error(`${method} ${path} was not answered within 30 s`)))
    asking.on('error', reject)
    asking.end(json === undefined ? undefined : JSON.stringify(json))
  })
}

/** What a service that is being prepared for a workload answers; it has to be what is wanted. */
export async function askFor<Body>(port: number, method: string, path: string, given?: Given): Promise<Body> {
  const { status, body } = await ask(port, method, path, given)
  if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${body.slice(0, 500)}`)
  return JSON.parse(body) as Body
}

/** Resolves at the first 200. `complaint` tells when waiting has become pointless. */
export async function untilAnswers(port: number, path: string, complaint: () => string | undefined): Promise<void> {
  const deadline = performance.now() + 30_000
  while (performance.now() < deadline) {
    const problem = complaint()
    if (problem !== undefined) throw new Error(problem)
    const answer = await ask(port, 'GET', path).catch(() => undefined)
    if (answer?.status === 200) return
    await sleep(2)
  }
  throw new Error(`GET ${path} did not answer 200 within 30 s`)
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })
}
