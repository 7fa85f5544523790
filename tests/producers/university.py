"""An API that answers requests through the middleware: python university.py FOLDER < requests.json

Standard input is {url, token, prefix, requests: [{path, method, client, status, at, times}]}. Prints what happened, in
order: the status of every answer, and "done" where the middleware has come to its end.
"""

import asyncio
import json
import sys
from datetime import datetime

sys.path.insert(0, sys.argv[1])

import university  # noqa: E402 - found only now


async def main():
    asked = json.load(sys.stdin)
    redis = university.connect(asked["url"], asked["token"])
    happened = []
    # As many as a function has under way at once.
    turns = asyncio.Semaphore(8)

    async def request(wanted):
        async def app(scope, receive, send):
            await send({"type": "http.response.start", "status": wanted["status"], "headers": []})
            await send({"type": "http.response.body", "body": b""})

        async def send(message):
            if message["type"] == "http.response.start":
                happened.append(message["status"])

        scope = {"type": "http", "path": wanted["path"], "method": wanted["method"], "client": (wanted["client"], 50000)}
        clock = lambda: datetime.fromisoformat(wanted["at"])  # noqa: E731
        counted = university.Counted(app, redis, asked["prefix"], "/auth/login", "/jobs/", clock)
        async with turns:
            await counted(scope, None, send)
        happened.append("done")

    await asyncio.gather(*(request(wanted) for wanted in asked["requests"] for _ in range(wanted["times"])))
    await redis.close()
    print(json.dumps(happened))


asyncio.run(main())
