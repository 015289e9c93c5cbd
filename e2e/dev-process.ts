import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

export type DevProcess = {
  welcome: string
  identity: string
  payments: string
  smtpPort: number
  child: ChildProcess
  output(): string
  /** Resolves when the banner says that everything is ready; rejects with the output when the process ends before. */
  ready: Promise<void>
  exited: Promise<number | null>
  /** Signals the whole process group, as a terminal does for Ctrl-C. */
  signalGroup(signal: NodeJS.Signals): void
}

export type Ports = {
  TOLLGATE_PORT: number
  TOLLGATE_SMTP_PORT: number
  TOLLGATE_PROVIDER_PORT: number
  AUTH_API_PORT: number
  PAY_API_PORT: number
}

/** What `npm start` runs, in a folder and on ports of its own. */
export function startDev(folder: string, ports: Ports): DevProcess {
  const env = {
    ...process.env,
    ...Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)])),
    npm_lifecycle_event: '',
  }
  const child = spawn(process.execPath, [join(root, 'tools/run.mjs'), 'packages/tollgate/src/main.ts', 'dev'], {
    cwd: folder,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const exited = once(child, 'close').then(([code]) => code as number | null)
  const ready = new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      output += chunk
      if (output.includes('is ready')) resolve()
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    exited.then(() => reject(new Error(`It ended before it was ready:\n${output}`)))
  })
  ready.catch(() => {})
  return {
    welcome: `http://127.0.0.1:${ports.TOLLGATE_PORT}`,
    identity: `http://127.0.0.1:${ports.AUTH_API_PORT}`,
    payments: `http://127.0.0.1:${ports.PAY_API_PORT}`,
    smtpPort: ports.TOLLGATE_SMTP_PORT,
    child,
    output: () => output,
    ready,
    exited,
    signalGroup: (signal) => process.kill(-(child.pid as number), signal),
  }
}

export async function freePorts(): Promise<Ports> {
  const [welcome = 0, smtp = 0, provider = 0, identity = 0, payments = 0] = await freeNumbers(5)
  return {
    TOLLGATE_PORT: welcome,
    TOLLGATE_SMTP_PORT: smtp,
    TOLLGATE_PROVIDER_PORT: provider,
    AUTH_API_PORT: identity,
    PAY_API_PORT: payments,
  }
}

async function freeNumbers(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      return server
    }),
  )
  const numbers = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return numbers
}
