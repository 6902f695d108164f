'use strict';

const { percentOf } = require('./money');

/** What is left to pay after a coupon, which is written as { percent: 10 }. */
function applyCoupon(cents, coupon) {
  if (coupon === undefined) return cents;
  const fraction = coupon.percent / 100;
  return cents - percentOf(cents, fraction);
}

module.exports = { applyCoupon };
