// The scheme of a hub's credits, as x402 programs register one. It holds no key: what
// is signed, and whether at all, is up to the node behind the command anet.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

export const scheme = "anet-credit";

export class CreditPayer {
  scheme = scheme;

  constructor(anet) {
    this.anet = anet;
  }

  async createPaymentPayload(x402Version, requirements) {
    const quote = JSON.stringify({ x402Version, accepts: [requirements] });
    const signed = await promisify(execFile)(this.anet, ["authorize", quote, "--agent", "--json"]);
    return { x402Version, payload: JSON.parse(signed.stdout).payment.payload };
  }
}

export class CreditSeller {
  scheme = scheme;
  defaultAssetTransferMethod = "default";

  paymentFlows = { default: { supported: ["upfront", "authorization"], default: "upfront" } };

  async parsePrice(price) {
    return { amount: price.amount, asset: price.asset };
  }

  async enhancePaymentRequirements(requirements) {
    return requirements;
  }
}
