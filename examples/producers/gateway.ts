// Counts the requests of a serverless worker for the catalog examples/gateway.toml: one hash per endpoint and minute,
// and one set per minute that names the hashes.
//
// It costs one command for every identity and three more, in one HTTP request: six where a request has a user, an
// address and a school.

import { Redis } from "@upstash/redis";

const TTL_SECONDS = 2 * 60 * 60;

/** The database, asked once and for no longer than a second. */
export function connect(url: string, token: string): Redis {
  return new Redis({
    url,
    token,
    // A request that is sent again may count twice. `retry: false` would still send it a second time.
    retry: { retries: 0 },
    // A function: a signal itself would run out one second after the start, for all requests together.
    signal: () => AbortSignal.timeout(1000),
  });
}

/**
 * Counts one request under all its identities, such as `{ usuario_id: "4f1c", ip: "203.0.113.7" }`: opaque ids only, no
 * personal data. Call it when the answer is under way, and do not wait for it:
 *
 *     const response = await answer(request);
 *     context.waitUntil(count(redis, "olp:", "send-otp", { usuario_id, ip, escola_id }));
 *     return response;
 *
 * It never fails: what could not be counted is missing from the counts, and nobody is kept from anything.
 */
export async function count(
  redis: Redis,
  prefix: string,
  endpoint: string,
  identities: Record<string, string>,
  now = new Date(),
): Promise<void> {
  // 2025-03-10T12:05:41.000Z becomes 202503101205.
  const minute = now.toISOString().slice(0, 16).replace(/[-T:]/g, "");
  const key = `${prefix}m:${endpoint}:${minute}`;
  const index = `${prefix}midx:${minute}`;
  try {
    const pipeline = redis.pipeline();
    for (const [scope, identity] of Object.entries(identities)) {
      pipeline.hincrby(key, `${scope}:${identity}`, 1);
    }
    await pipeline.expire(key, TTL_SECONDS).sadd(index, key).expire(index, TTL_SECONDS).exec();
  } catch (error) {
    // Not the message: it repeats the commands, which name identities.
    console.warn("rate_limit.uncounted", (error as Error).name);
  }
}
