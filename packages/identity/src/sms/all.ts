import { console } from './console.ts'
import { messagebird } from './messagebird.ts'
import { textlocal } from './textlocal.ts'
import { twilio } from './twilio.ts'
import { vonage } from './vonage.ts'

/** Every SMS gateway with the credentials that it wants, from which its settings follow. */
export const gateways = [twilio, messagebird, textlocal, vonage, console] as const

export type GatewayName = (typeof gateways)[number]['name']
