import { migrateService, type Service } from '@tollgate/kit/service'
import type { ServiceConfig } from '@tollgate/kit/service-settings'
import { version } from '@tollgate/kit/version'
import type { Command, ServiceCommands } from './command.ts'
import { serviceHelp } from './help.ts'
import { Mistake } from './mistake.ts'
import { serve } from './serve.ts'
import { readSettings } from './settings.ts'

/** What every service can be told to do; `more` are the words that only this one knows. */
export function serviceCommands<Config extends ServiceConfig, App>(
  service: Service<Config, App>,
  more: Readonly<Record<string, Command>> = {},
): ServiceCommands {
  return {
    service,
    commands: {
      serve: { summary: 'Apply migrations and serve, with settings from the environment', run: () => serve(service) },
      migrate: {
        summary: 'Bring the tables up to date and end',
        async run() {
          const applied = await migrateService(service, readSettings(service).config)
          console.log(applied.length === 0 ? 'The tables are up to date.' : `Applied ${applied.join(', ')}.`)
        },
      },
      ...more,
    },
  }
}

/** Runs the words that follow a service's name. */
export async function runServiceCommand(own: ServiceCommands, words: readonly string[]): Promise<void> {
  const [word = '--help', ...rest] = words
  if (word === '--version' || word === 'version') return console.log(version)
  if (word === '--help' || word === '-h' || word === 'help' || rest.includes('--help') || rest.includes('-h'))
    return console.log(serviceHelp(own))
  const command = Object.hasOwn(own.commands, word) ? own.commands[word] : undefined
  if (!command)
    throw new Mistake(
      `${own.service.name} knows ${Object.keys(own.commands).join(', ')}, not ${JSON.stringify(word)}. Try --help.`,
    )
  await command.run(rest)
}
