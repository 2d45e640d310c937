-- the last round of a work that ended whole, by which the next one judges its clock
CREATE TABLE retention_rounds (
    name text NOT NULL PRIMARY KEY,
    -- every result from before this moment was deleted
    cleared_before integer NOT NULL,
    -- when the round ended
    ended_at integer NOT NULL
) STRICT;

-- since when the clock is ahead of the last round of a work, and not believed yet
CREATE TABLE retention_doubts (
    name text NOT NULL PRIMARY KEY,
    since integer NOT NULL
) STRICT;
