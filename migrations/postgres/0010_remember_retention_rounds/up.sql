-- the last round of a work that ended whole, by which the next one judges its clock
CREATE TABLE retention_rounds (
    name text COLLATE "C" PRIMARY KEY,
    -- every result from before this moment was deleted
    cleared_before timestamptz NOT NULL,
    -- when the round ended
    ended_at timestamptz NOT NULL
);

-- since when the clock is ahead of the last round of a work, and not believed yet
CREATE TABLE retention_doubts (
    name text COLLATE "C" PRIMARY KEY,
    since timestamptz NOT NULL
);
