'use strict';

const assert = require('node:assert');
const { test } = require('node:test');
const { subtotal, total } = require('../src/cart');

const lines = [
  { name: 'bread', price: 350, quantity: 2 },
  { name: 'cheese', price: 1300, quantity: 1 },
];

test('the subtotal adds up all lines', () => {
  assert.strictEqual(subtotal(lines), 2000);
});

test('without a coupon the total is the subtotal', () => {
  assert.strictEqual(total({ lines }), 2000);
});

test('a coupon takes its percentage off the total', () => {
  assert.strictEqual(total({ lines, coupon: { percent: 10 } }), 1800);
});
