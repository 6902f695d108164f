'use strict';

const { applyCoupon } = require('./discount');

/** The sum of all lines, in cents. */
function subtotal(lines) {
  return lines.reduce((sum, line) => sum + line.price * line.quantity, 0);
}

/** What the customer pays, in cents. */
function total(cart) {
  return applyCoupon(subtotal(cart.lines), cart.coupon);
}

module.exports = { subtotal, total };
