"""Counts the requests of an asynchronous API for the catalog examples/university.toml: one hash per endpoint and minute.

A request costs two commands, a login four, in one HTTP request. The catalog asks for the hashes of both endpoints by
name, so they need no index.
"""

import asyncio
import ipaddress
import logging
from datetime import UTC, datetime

from upstash_redis.asyncio import Redis

TTL_SECONDS = 2 * 60 * 60
LONGEST_WAIT_SECONDS = 1

log = logging.getLogger(__name__)


def connect(url: str, token: str) -> Redis:
    """The database, asked once: a request that is sent again may count twice."""
    return Redis(url, token, rest_retries=0)


def network(address: str) -> str:
    """Who an address stands for: an IPv6 network of 64 bits, or one IPv4 address."""
    ip = ipaddress.ip_address(address)
    if ip.version == 4:
        return str(ip)
    if ip.ipv4_mapped:
        return str(ip.ipv4_mapped)
    return str(ipaddress.ip_network((int(ip), 64), strict=False))


async def count(redis: Redis, prefix: str, endpoints: list[str], address: str, now: datetime) -> None:
    """Counts one request. It never fails: what could not be counted is missing, and nobody is kept from anything."""
    try:
        async with asyncio.timeout(LONGEST_WAIT_SECONDS):
            pipeline = redis.pipeline()
            for endpoint in endpoints:
                key = f"{prefix}m:{endpoint}:{now:%Y%m%d%H%M}"
                pipeline.hincrby(key, network(address), 1)
                pipeline.expire(key, TTL_SECONDS)
            await pipeline.exec()
    except Exception as error:
        # Not the message, which may name the address.
        log.warning("rate_limit.unavailable %s", type(error).__name__)


class Counted:
    """ASGI middleware. It counts when the answer has been sent, also one of 401 or 429, so nobody waits for it.

    Preflight requests use no quota, nor do callbacks of signed jobs, whose paths start with `callbacks`.
    """

    def __init__(self, app, redis: Redis, prefix: str, login: str, callbacks: str, clock=lambda: datetime.now(UTC)):
        self.app, self.redis, self.prefix = app, redis, prefix
        self.login, self.callbacks, self.clock = login, callbacks, clock

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http" or scope["method"] == "OPTIONS" or scope["path"].startswith(self.callbacks):
            return await self.app(scope, receive, send)
        endpoints = ["all", "login"] if scope["path"] == self.login else ["all"]
        # The minute in which the request came, as the limiter sees it.
        now = self.clock()
        try:
            await self.app(scope, receive, send)
        finally:
            address, *_ = scope.get("client") or [""]
            await count(self.redis, self.prefix, endpoints, address, now)
