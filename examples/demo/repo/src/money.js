'use strict';

/** A share of an amount in whole cents; `percent` is 10 for ten per cent. */
function percentOf(cents, percent) {
  return Math.round((cents * percent) / 100);
}

/** 1998 becomes "19.98". */
function format(cents) {
  return (cents / 100).toFixed(2);
}

module.exports = { percentOf, format };
