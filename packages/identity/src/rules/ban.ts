/** Whether somebody is kept out at a moment: a ban that is over stays written down. */
export function isBanned({ bannedUntil }: { bannedUntil: Date | null }, now: Date): boolean {
  return bannedUntil !== null && bannedUntil > now
}
