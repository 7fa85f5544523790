-- Alerts. A drain judges limits in its own transaction: how each stands is in alert_states, and what somebody has to be
-- told is a row of alerts, which a sender delivers afterwards.

-- How every limit stands, and everything else that is alerted. What was never judged has no row.
CREATE TABLE alert_states (
    environment text NOT NULL, -- empty: concerns all of them
    alert_key text NOT NULL, -- a limit's id, or the name of something else, which has a colon in it
    level text NOT NULL, -- ok, near, over, refused, warning, critical
    since timestamptz, -- when it left ok, in the time of the data
    last_high timestamptz, -- the last minute that kept it from being ok again
    peak bigint, -- the largest window since then
    peak_at timestamptz, -- its minute
    judged_before timestamptz, -- minutes before this one have been judged
    PRIMARY KEY (environment, alert_key)
);

-- The outbox, and the record of what was told.
CREATE TABLE alerts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    environment text NOT NULL,
    alert_key text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('raised', 'ended', 'event')),
    level text NOT NULL,
    title text NOT NULL,
    message text NOT NULL,
    link text, -- path and query of the page that shows more
    created_at timestamptz NOT NULL,
    -- replaced: something newer was to be told before it was sent; unsent: there was nowhere to send it
    state text NOT NULL CHECK (state IN ('pending', 'sent', 'replaced', 'silenced', 'unsent')),
    attempts integer NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL,
    planned_at timestamptz NOT NULL, -- when that was decided: a clock that stands before it has been set back
    held_by text, -- why it waits: cooldown, silence, or what went wrong
    leased_until timestamptz, -- a sender has it in hand
    sent_at timestamptz,
    message_id text, -- the server's; several alerts have one where they were told together
    updates boolean, -- the server updates notifications in place
    starts_cooldown boolean NOT NULL DEFAULT false -- as bad again within a while, it is not told again
);

-- One alert of a kind waits at a time: what is newer replaces it.
CREATE UNIQUE INDEX alerts_pending ON alerts (environment, alert_key) WHERE state = 'pending';
-- What was last told of something, and what was sent lately.
CREATE INDEX alerts_key ON alerts (environment, alert_key, id DESC);
CREATE INDEX alerts_sent ON alerts (sent_at) WHERE sent_at IS NOT NULL;

-- Limits of which nobody wants to hear for a while.
CREATE TABLE silences (
    environment text NOT NULL,
    limit_id text NOT NULL,
    until timestamptz NOT NULL,
    reason text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (environment, limit_id)
);

-- Whether the notification server may be asked: one row.
CREATE TABLE delivery (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    closed_until timestamptz, -- not asked before
    planned_at timestamptz, -- when that was decided
    failures integer NOT NULL DEFAULT 0, -- in a row
    error text -- of the last one
);
INSERT INTO delivery DEFAULT VALUES;
