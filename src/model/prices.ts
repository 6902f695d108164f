import type { Usage } from '../contract/message';
import type { ModelInfo } from '../contract/model-info';

/** Cost of one call in USD; `null`, never 0, for a model whose price is not known. */
export function createPricing(
  findModel: (model: string) => ModelInfo | null,
): (model: string, usage: Usage) => number | null {
  return (model, usage) => {
    const price = findModel(model)?.price;
    if (price === undefined) return null;
    const millionths =
      usage.input * price.input +
      usage.output * price.output +
      usage.cacheRead * price.cacheRead +
      usage.cacheWrite * price.cacheWrite;
    return millionths / 1_000_000;
  };
}
