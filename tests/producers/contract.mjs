// Asks a front of Redis what the client relies on: node contract.mjs CLIENT < { url, token }

import { readFileSync } from "node:fs";

const { Redis } = await import(process.argv[2]);
const { url, token } = JSON.parse(readFileSync(0, "utf8"));
const open = (token) => new Redis({ url, token, retry: { retries: 0 }, enableAutoPipelining: false });
const failed = (promise) => promise.then(() => "none", (error) => error.message);

const redis = open(token);
const pipeline = redis.pipeline().set("text", "São João").hincrby("text", "a", 1).get("text").incr("count");
console.log(
  JSON.stringify({
    single: await redis.get("nowhere"),
    pipeline: await pipeline.exec({ keepErrors: true }),
    multi: await redis.multi().incr("count").sadd("set", "é").smembers("set").expire("set", 60).exec(),
    refused: await failed(redis.hincrby("text", "a", 1)),
    stranger: await failed(open("another").pipeline().incr("count").exec()),
  }),
);
