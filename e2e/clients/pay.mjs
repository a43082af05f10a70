// usage: pay.mjs URL NETWORK ANET
// Buys at URL with the official client, and prints what came of it as JSON. The quote
// is held to the schema that other programs hold it to.
import { decodePaymentRequiredHeader } from "@x402/core/http";
import { PaymentRequiredV2Schema } from "@x402/core/schemas";
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import { CreditPayer } from "./credits.mjs";

const [url, network, anet] = process.argv.slice(2);

let quote;
async function watched(request) {
  const response = await fetch(request);
  if (response.status === 402 && !quote) {
    quote = PaymentRequiredV2Schema.parse(decodePaymentRequiredHeader(response.headers.get("PAYMENT-REQUIRED")));
  }
  return response;
}

const pay = wrapFetchWithPaymentFromConfig(watched, {
  schemes: [{ network: "hub:*", client: new CreditPayer(anet) }],
  spendControls: { allowedAssets: [{ network, asset: "credit" }] },
});

const response = await pay(url);
const settlement = response.headers.get("PAYMENT-RESPONSE");
console.log(JSON.stringify({
  status: response.status,
  body: await response.json(),
  settlement: settlement && decodePaymentResponseHeader(settlement),
  quote,
}));
