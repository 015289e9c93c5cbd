import { ask } from './http.ts'
import { type Server, type ServiceName, type Site, startBare, startService } from './servers.ts'

export type Workload = {
  name: string
  title: string
  /** The server it runs on, and the bytes of its request. Called once, before anything is measured. */
  prepare(stage: Stage): Promise<{ server: Server; request: Buffer }>
  /** The workload that its requests/s are compared with, round by round. */
  baseline?: string
  bars?: { /** At least this share of the baseline's requests/s. */ ratio?: number; statements?: number }
}

/** Hands out the services, each started when the first workload asks for it. */
export type Stage = { site: Site; service(name: ServiceName): Promise<Server> }

export function createStage(site: Site): Stage {
  const started = new Map<ServiceName, Promise<Server>>()
  return {
    site,
    service(name) {
      const there = started.get(name) ?? startService(name, site)
      started.set(name, there)
      return there
    },
  }
}

/** In the order of a round: what is compared stands side by side. */
export const workloads: readonly Workload[] = [
  {
    name: 'bare',
    title: 'bare node:http',
    async prepare({ site, service }) {
      const identity = await service('identity')
      const server = await startBare(await ask(identity.port, 'GET', '/settings'), site)
      return { server, request: get('/settings') }
    },
  },
  {
    name: 'settings',
    title: 'identity GET /settings',
    baseline: 'bare',
    bars: { ratio: 0.6, statements: 0 },
    prepare: async ({ service }) => ({ server: await service('identity'), request: get('/settings') }),
  },
  {
    name: 'health',
    title: 'identity GET /health',
    bars: { statements: 0 },
    prepare: async ({ service }) => ({ server: await service('identity'), request: get('/health') }),
  },
  {
    name: 'me',
    title: 'payments GET /me',
    bars: { statements: 1 },
    async prepare({ service }) {
      const server = await service('payments')
      const made = await ask(server.port, 'POST', '/apps', { name: 'bench' })
      if (made.status !== 201) throw new Error(`payments: POST /apps answered ${made.status}: ${made.body}`)
      const { app } = JSON.parse(made.body) as { app: { key: string } }
      const credentials = Buffer.from(`:${app.key}`).toString('base64')
      return { server, request: get('/me', [`Authorization: Basic ${credentials}`]) }
    },
  },
]

function get(path: string, headers: readonly string[] = []): Buffer {
  return Buffer.from([`GET ${path} HTTP/1.1`, 'Host: 127.0.0.1', ...headers, '', ''].join('\r\n'))
}
