-- Everything folga keeps. The flow is: series -> minute_counts -> hourly, series_hourly -> daily; coverage beside it.
-- Identities are 64-bit keyed hashes everywhere; all times are UTC instants.
-- The large tables carry no foreign keys: their rows are written in bulk from ids read in the same transaction.

-- Facts about the database itself: the fingerprint of the identity key, the zone of the daily rows, how far minutes
-- have been dropped.
CREATE TABLE settings (
    name text PRIMARY KEY,
    value text NOT NULL
);

-- What a sample is counted under, identity and minute apart.
CREATE TABLE series (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    environment text NOT NULL,
    source text NOT NULL,
    endpoint text NOT NULL,
    scope text NOT NULL,
    outcome text NOT NULL, -- empty where the source tells none
    UNIQUE (environment, source, endpoint, scope, outcome)
);

-- The minute store: one row per Redis key and minute (and scope and outcome, where one key holds several). A count is
-- the largest ever read; rows only grow until retention drops them.
CREATE TABLE minute_counts (
    series_id integer NOT NULL,
    minute timestamptz NOT NULL,
    stem bigint NOT NULL, -- keyed hash of the Redis key without its minute
    size integer NOT NULL, -- number of identities
    fell boolean NOT NULL, -- a later read found less: the producer's counters were lost
    ids bigint[] NOT NULL, -- identities, ascending
    counts bigint[] NOT NULL, -- their counts, in the same order
    PRIMARY KEY (series_id, minute, stem)
);

-- Hashes do not compress: spare the attempt.
ALTER TABLE minute_counts ALTER COLUMN ids SET STORAGE EXTERNAL;

-- For retention and for what an environment holds of one minute.
CREATE INDEX minute_counts_minute ON minute_counts (minute);

-- Labels of identities, for scopes declared public only.
CREATE TABLE labels (
    scope text NOT NULL,
    id bigint NOT NULL,
    label text NOT NULL,
    seen date NOT NULL, -- when it was last met
    PRIMARY KEY (scope, id)
);

-- Which minutes can be vouched for: bit n of a mask is minute n of the hour.
CREATE TABLE coverage (
    environment text NOT NULL,
    source text NOT NULL,
    hour timestamptz NOT NULL,
    covered bigint NOT NULL, -- read to the end while readable
    doubtful bigint NOT NULL, -- counts are known to have been lost
    settled bigint NOT NULL, -- read after the last late write was due: not read again
    PRIMARY KEY (environment, source, hour)
);

-- What is known of a source in an environment.
CREATE TABLE source_states (
    environment text NOT NULL,
    source text NOT NULL,
    first_minute timestamptz, -- of its first sample: coverage starts here
    gaps_before timestamptz, -- gaps before this instant have been reported
    writes bigint NOT NULL, -- how often a drain has written: tells one that another one was faster
    PRIMARY KEY (environment, source)
);

-- What decides a limit's counts. Aggregates hang on it, so a limit's value, id and name change freely.
CREATE TABLE shapes (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    environment text NOT NULL,
    definition text NOT NULL, -- canonical JSON
    history_from timestamptz, -- first hour known whole, where minutes had been dropped before the shape was new
    folded_before timestamptz, -- windows that end before this instant are in the histograms; null: never folded
    UNIQUE (environment, definition)
);

-- Which value and mode a limit had, and when. A limit that left the catalog has a row with mode 'removed'.
CREATE TABLE limit_values (
    environment text NOT NULL,
    limit_id text NOT NULL,
    valid_from timestamptz NOT NULL,
    group_id text NOT NULL,
    shape_id integer NOT NULL REFERENCES shapes (id),
    value bigint, -- null: watched only
    mode text NOT NULL,
    PRIMARY KEY (environment, limit_id, valid_from)
);

-- One row per shape and hour with samples, or in which a window with samples closed.
CREATE TABLE hourly (
    shape_id integer NOT NULL,
    hour timestamptz NOT NULL,
    peak bigint, -- largest window; null for windows under a minute
    lower bigint NOT NULL, -- the true peak is at least this
    upper bigint NOT NULL, -- and at most this
    peak_at timestamptz, -- last minute of the peak's window
    peak_id bigint, -- whose it was; null for shared limits
    total numeric NOT NULL,
    identities bigint NOT NULL, -- with samples in this hour
    histogram_values bigint[] NOT NULL, -- counts of closed aligned windows, ascending
    histogram_windows bigint[] NOT NULL, -- how many identity-windows had that count
    histogram_rounded boolean NOT NULL, -- too many distinct values to keep: rounded up
    top_ids bigint[] NOT NULL, -- the five largest identity peaks, largest first
    top_peaks bigint[] NOT NULL,
    top_at timestamptz[] NOT NULL,
    PRIMARY KEY (shape_id, hour)
);

-- Hourly rows merged over local days of the catalog's zone.
CREATE TABLE daily (
    shape_id integer NOT NULL,
    day date NOT NULL,
    peak bigint,
    lower bigint NOT NULL,
    upper bigint NOT NULL,
    peak_at timestamptz,
    peak_id bigint,
    total numeric NOT NULL,
    identities bigint NOT NULL, -- in the busiest hour
    histogram_values bigint[] NOT NULL,
    histogram_windows bigint[] NOT NULL,
    histogram_rounded boolean NOT NULL,
    top_ids bigint[] NOT NULL,
    top_peaks bigint[] NOT NULL,
    top_at timestamptz[] NOT NULL,
    active_hours integer NOT NULL, -- hours with samples
    by_hour bigint[] NOT NULL, -- largest peak by local hour, 24 entries
    PRIMARY KEY (shape_id, day)
);

-- Totals and peaks by identity, for every series whether a limit names it or not.
CREATE TABLE series_hourly (
    series_id integer NOT NULL,
    hour timestamptz NOT NULL,
    total numeric NOT NULL,
    ids bigint[] NOT NULL,
    totals bigint[] NOT NULL, -- in the order of ids
    peaks bigint[] NOT NULL, -- largest minute
    peak_minutes smallint[] NOT NULL, -- which minute of the hour, 0 to 59
    PRIMARY KEY (series_id, hour)
);

ALTER TABLE series_hourly ALTER COLUMN ids SET STORAGE EXTERNAL;

-- What each drain did.
CREATE TABLE runs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    environment text NOT NULL,
    source text NOT NULL,
    started_at timestamptz NOT NULL,
    finished_at timestamptz NOT NULL,
    outcome text NOT NULL CHECK (outcome IN ('done', 'partial', 'failed')),
    keys bigint NOT NULL,
    samples bigint NOT NULL,
    minutes_covered bigint NOT NULL,
    commands bigint NOT NULL, -- sent to Redis, handshake apart
    bytes bigint NOT NULL, -- received from Redis
    reject_keys text[] NOT NULL,
    reject_reasons text[] NOT NULL,
    reject_counts bigint[] NOT NULL,
    gaps_from timestamptz[] NOT NULL, -- gaps this run found that can no longer be filled
    gaps_to timestamptz[] NOT NULL,
    error text
);

CREATE INDEX runs_started ON runs (started_at DESC, id DESC);
CREATE INDEX runs_source ON runs (environment, source, finished_at DESC);

-- Large arrays compress with lz4 where this Postgres has it: several times as fast as the default.
DO $$
BEGIN
    ALTER TABLE minute_counts ALTER COLUMN counts SET COMPRESSION lz4;
    ALTER TABLE series_hourly ALTER COLUMN totals SET COMPRESSION lz4;
    ALTER TABLE series_hourly ALTER COLUMN peaks SET COMPRESSION lz4;
    ALTER TABLE series_hourly ALTER COLUMN peak_minutes SET COMPRESSION lz4;
EXCEPTION
    -- Built without lz4, or older than the setting.
    WHEN feature_not_supported OR invalid_parameter_value OR syntax_error THEN NULL;
END
$$;
