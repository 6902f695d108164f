/**
 * The Temporal SDK types durations by `ms`, whose package hides its types from this module resolution: without this
 * declaration every duration is silently `any`, and `startToCloseTimeout: '5 banana'` compiles.
 */
declare module 'ms' {
  type Unit =
    | 'year'
    | 'years'
    | 'y'
    | 'week'
    | 'weeks'
    | 'w'
    | 'day'
    | 'days'
    | 'd'
    | 'hour'
    | 'hours'
    | 'h'
    | 'minute'
    | 'minutes'
    | 'm'
    | 'second'
    | 'seconds'
    | 's'
    | 'millisecond'
    | 'milliseconds'
    | 'ms';

  export type StringValue = `${number}` | `${number}${Unit}` | `${number} ${Unit}`;
}
