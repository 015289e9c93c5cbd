/** Everything that makes a digest of a password, but the password. */
export type Recipe =
  | { kind: 'argon2id' | 'argon2i'; memory: number; passes: number; lanes: number; salt: Buffer; length: number }
  | { kind: 'bcrypt'; cost: number; salt: Buffer }
  | { kind: 'firebase'; exponent: number; blocks: number; lanes: number; salt: Buffer; signerKey: Buffer }
  | { kind: 'pbkdf2-sha256' | 'pbkdf2-sha512'; iterations: number; salt: Buffer; length: number }

export type Argon2 = Extract<Recipe, { kind: 'argon2id' | 'argon2i' }>
export type Bcrypt = Extract<Recipe, { kind: 'bcrypt' }>
export type Firebase = Extract<Recipe, { kind: 'firebase' }>

export type PasswordHash = { recipe: Recipe; digest: Buffer }
