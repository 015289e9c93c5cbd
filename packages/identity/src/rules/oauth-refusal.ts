import { Failure } from '@tollgate/kit/failure'

/** A refusal in the form of OAuth, where today's clients expect that one: always 400, `{error, error_description}`. */
export class OAuthRefusal extends Failure {
  readonly error: string

  constructor(error: string, description: string) {
    super('validation_failed', 400, description)
    this.error = error
  }
}
