import { expect, test } from 'vitest'
import { auditActions } from './audit-actions.ts'

/** As readers of the log know them; not all of these are done here. */
const drawers: Record<string, string[]> = {
  account: ['login', 'logout', 'invite_accepted'],
  team: ['user_signedup', 'user_invited', 'user_deleted'],
  token: ['token_revoked', 'token_refreshed'],
  user: [
    'user_modified',
    'user_recovery_requested',
    'user_reauthenticate_requested',
    'user_confirmation_requested',
    'user_repeated_signup',
    'user_updated_password',
    'identity_linked',
    'identity_unlinked',
  ],
}

test.each(Object.entries(auditActions))('%s is kept in the drawer %s, where readers of the log look for it', (action, drawer) => {
  expect(drawers[drawer]).toContain(action)
})
