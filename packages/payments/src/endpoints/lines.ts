import Type from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { fail } from '../errors.ts'
import { Line, tellLine } from '../operations/tell-line.ts'
import { Id } from '../shapes.ts'
import { findOwnLine } from '../store/lines.ts'

export const line = endpoint({
  method: 'GET',
  path: '/lines/{line_id}',
  summary: 'Show a line',
  description: 'The answer is the line itself, without anything around it.',
  tag: 'Lines',
  caller: identified,
  params: Type.Object({ line_id: Id }),
  reply: { 200: Line },
  fails: ['not_found'],

  async run({ db }, { who, params }) {
    const found = await findOwnLine(db, who.id, params.line_id)
    if (!found) throw fail('not_found')
    return tellLine(found)
  },
})
