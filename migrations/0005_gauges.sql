-- What samples of gauges found, by hour: a function of the minute store, as the other aggregates are. Gauges are no
-- counts: nothing here is a sum of samples.
CREATE TABLE gauge_hourly (
    series_id integer NOT NULL,
    hour timestamptz NOT NULL,
    ids bigint[] NOT NULL, -- identities, ascending; the other arrays are in the same order
    mins bigint[] NOT NULL, -- the smallest sample
    maxs bigint[] NOT NULL, -- the largest sample
    lasts bigint[] NOT NULL, -- the last sample
    last_minutes smallint[] NOT NULL, -- which minute of the hour that was
    samples bigint[] NOT NULL, -- how many minutes have one
    PRIMARY KEY (series_id, hour)
);

-- For retention.
CREATE INDEX gauge_hourly_hour ON gauge_hourly (hour);
