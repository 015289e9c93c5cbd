import { anyone } from '@tollgate/kit/endpoint'
import { version } from '@tollgate/kit/version'
import Type from 'typebox'
import { endpoint } from '../app.ts'

export const health = endpoint({
  method: 'GET',
  path: '/health',
  summary: 'Tell that the service runs, and which version',
  tag: 'About',
  caller: anyone,
  reply: { 200: Type.Object({ version: Type.String(), name: Type.String(), description: Type.String() }) },
  fails: [],
  constant: true,
  quiet: true,

  run() {
    // Name and description are what today's clients and their health checks compare with.
    return { version, name: 'GoTrue', description: 'GoTrue is a user registration and authentication API' }
  },
})
