// A worker that answers requests and counts them as it would in service: node gateway.mjs MODULE < requests.json
//
// Standard input is { url, token, prefix, requests: [{ endpoint, identities, at }] }. Prints what happened, in order.

import { readFileSync } from "node:fs";

const { connect, count } = await import(process.argv[2]);
const { url, token, prefix, requests } = JSON.parse(readFileSync(0, "utf8"));
const redis = connect(url, token);

// A worker's platform stays up; this process would end while it waits for nothing but a time limit.
const platform = setInterval(() => {}, 1000);
const happened = [];
const underWay = [];
const context = { waitUntil: (promise) => underWay.push(promise.then(() => happened.push("counted"))) };
for (const { endpoint, identities, at } of requests) {
  context.waitUntil(count(redis, prefix, endpoint, identities, new Date(at)));
  happened.push("answered");
}
// What a platform does with promises it was told to wait for: a rejected one would fail this process.
await Promise.all(underWay);
clearInterval(platform);
console.log(JSON.stringify(happened));
