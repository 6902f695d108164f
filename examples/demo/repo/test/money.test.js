'use strict';

const assert = require('node:assert');
const { test } = require('node:test');
const { format, percentOf } = require('../src/money');

test('ten per cent of 20.00 is 2.00', () => {
  assert.strictEqual(percentOf(2000, 10), 200);
});

test('shares are rounded to whole cents', () => {
  assert.strictEqual(percentOf(999, 15), 150);
});

test('amounts are shown with two decimals', () => {
  assert.strictEqual(format(1998), '19.98');
});
