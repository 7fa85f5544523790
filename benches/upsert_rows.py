"""What a first script for this job looks like: every sample read with redis-py and upserted as a row of its own."""

import sys

import psycopg
import redis

redis_url, postgres_url = sys.argv[1:]
store = redis.Redis.from_url(redis_url)
keys = [b"olp:m:endpoint-%d:2025031012%02d" % (endpoint, minute) for minute in range(60) for endpoint in range(20)]
with psycopg.connect(postgres_url) as database, database.cursor() as cursor:
    cursor.execute(
        """CREATE TABLE samples (
            endpoint text, minute text, identity text, count bigint, PRIMARY KEY (endpoint, minute, identity))"""
    )
    rows = []
    for start in range(0, len(keys), 50):
        with store.pipeline(transaction=False) as pipeline:
            for key in keys[start : start + 50]:
                pipeline.hgetall(key)
            for key, fields in zip(keys[start : start + 50], pipeline.execute()):
                _, _, endpoint, minute = key.decode().split(":")
                rows += [(endpoint, minute, field.decode(), int(count)) for field, count in fields.items()]
    cursor.executemany(
        """INSERT INTO samples VALUES (%s, %s, %s, %s)
        ON CONFLICT (endpoint, minute, identity) DO UPDATE SET count = excluded.count""",
        rows,
    )
print(len(rows), "rows")
