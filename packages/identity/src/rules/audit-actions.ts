/** What can be said in the audit log, and the drawer that it belongs to. */
export const auditActions = {
  login: 'account',
  logout: 'account',
  invite_accepted: 'account',
  user_signedup: 'team',
  user_invited: 'team',
  user_deleted: 'team',
  user_modified: 'user',
  user_recovery_requested: 'user',
  user_reauthenticate_requested: 'user',
  user_confirmation_requested: 'user',
  user_repeated_signup: 'user',
  user_updated_password: 'user',
  identity_linked: 'user',
  identity_unlinked: 'user',
  token_revoked: 'token',
  token_refreshed: 'token',
} as const

export type AuditAction = keyof typeof auditActions
