// usage: find.mjs FACILITATOR [PAYEE]
// Lists what is sold, with the official client for discovery that is given the address
// of the facilitator alone, and prints it as JSON.
import { HTTPFacilitatorClient } from "@x402/core/server";
import { withBazaar } from "@x402/extensions/bazaar";

const [url, payTo] = process.argv.slice(2);

const facilitator = withBazaar(new HTTPFacilitatorClient({ url }));
const found = await facilitator.extensions.bazaar.listResources({ type: "http", payTo, scheme: "anet-credit", limit: 10, offset: 0 });
console.log(JSON.stringify(found));
