import { withDotEnv } from '@tollgate/kit/env'
import type { Service } from '@tollgate/kit/service'
import type { ServiceConfig } from '@tollgate/kit/service-settings'

/** The one place where the environment is read: `.env` of the folder we are started in lies under it. */
export function readSettings<Config extends ServiceConfig>(service: Service<Config>): { config: Config; warnings: string[] } {
  const env = withDotEnv(process.env, '.env')
  // The OpenTelemetry SDK looks its standard variables up by itself, and only in the process's own environment.
  for (const [name, value] of Object.entries(env))
    if (name.startsWith('OTEL_') && value !== undefined) process.env[name] ??= value
  return service.settings.read(env)
}
