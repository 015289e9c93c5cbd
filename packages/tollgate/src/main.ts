import { version } from '@tollgate/kit/version'
import type { Command, ServiceCommands } from './command.ts'
import { runServiceCommand } from './commands.ts'
import { runToEnd } from './end.ts'
import { houseHelp } from './help.ts'
import { Mistake } from './mistake.ts'

/** Loaded when they are wanted: whoever runs one service need not hold the other in memory. */
const services: Readonly<Record<string, () => Promise<ServiceCommands>>> = {
  identity: async () => (await import('./identity-commands.ts')).identityCommands,
  payments: async () => (await import('./payments-commands.ts')).paymentsCommands,
}

const commands: Readonly<Record<string, Command>> = {
  dev: {
    summary: 'Start everything on this machine: PostgreSQL, both services, a welcome page and an inbox',
    async run(words) {
      // Development parts are loaded when they are wanted: production does without them.
      const { dev } = await import('./dev.ts')
      await dev(words)
    },
  },
}

async function run([word = '--help', ...rest]: readonly string[]): Promise<void> {
  if (word === '--version' || word === 'version') return console.log(version)
  if (word === '--help' || word === '-h' || word === 'help') {
    const all = await Promise.all(Object.values(services).map((load) => load()))
    return console.log(houseHelp(all, commands))
  }
  const load = Object.hasOwn(services, word) ? services[word] : undefined
  if (load) return runServiceCommand(await load(), rest)
  const command = Object.hasOwn(commands, word) ? commands[word] : undefined
  if (!command) throw new Mistake(`There is no command ${JSON.stringify(word)}. Try: tollgate --help`)
  await command.run(rest)
}

await runToEnd(() => run(process.argv.slice(2)))
