import { version } from '@tollgate/kit/version'
import type { Command } from './command.ts'
import { runServiceCommand } from './commands.ts'
import { runToEnd } from './end.ts'
import { houseHelp } from './help.ts'
import { identityCommands } from './identity-commands.ts'
import { Mistake } from './mistake.ts'
import { paymentsCommands } from './payments-commands.ts'

const services = [identityCommands, paymentsCommands]

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
  if (word === '--help' || word === '-h' || word === 'help') return console.log(houseHelp(services, commands))
  const service = services.find((each) => each.service.name === word)
  if (service) return runServiceCommand(service, rest)
  const command = Object.hasOwn(commands, word) ? commands[word] : undefined
  if (!command) throw new Mistake(`There is no command ${JSON.stringify(word)}. Try: tollgate --help`)
  await command.run(rest)
}

await runToEnd(() => run(process.argv.slice(2)))
