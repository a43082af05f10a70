// usage: shop.mjs FACILITATOR NETWORK PAYEE
// Sells for 5 credits with the official middleware, and prints where it listens:
// GET /upfront has the credits moved before the work, GET /after has the payment
// verified before it, and the credits moved afterwards. It ends with its stdin.
import { HTTPFacilitatorClient } from "@x402/core/server";
import { paymentMiddleware, x402ResourceServer } from "@x402/express";
import express from "express";
import { CreditSeller, scheme } from "./credits.mjs";

const [facilitator, network, payTo] = process.argv.slice(2);

const seller = new x402ResourceServer(new HTTPFacilitatorClient({ url: facilitator }))
  .register(network, new CreditSeller());
const sold = (extra) => ({ accepts: { scheme, network, payTo, price: { amount: "5", asset: "credit" }, extra }, description: "A digest" });

const shop = express();
shop.use(paymentMiddleware({
  "GET /upfront": sold({}),
  "GET /after": sold({ paymentFlow: "authorization" }),
}, seller));
shop.get(["/upfront", "/after"], (_, response) => response.json({ digest: "2cf24dba" }));

const listening = shop.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${listening.address().port}`);
});
process.stdin.on("end", () => process.exit(0)).resume();
