import { anyone } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { endpoint } from '../app.ts'

export const live = endpoint({
  method: 'GET',
  path: '/live',
  summary: 'Tell that the process answers',
  description: 'Whatever becomes of the database: a process that does not answer this is to be started again.',
  tag: 'About',
  caller: anyone,
  reply: { 200: Type.Object({ status: Type.String() }) },
  fails: [],
  constant: true,
  quiet: true,

  run() {
    return { status: 'live' }
  },
})
