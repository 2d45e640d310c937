-- what file runs hold back of a budget: the estimated cost of rows in flight
CREATE TABLE budget_holds (
    -- one work on one file run
    holder blob NOT NULL PRIMARY KEY,
    account_id blob NOT NULL REFERENCES accounts (id),
    -- in billionths of the currency of the costs
    held_nanos integer NOT NULL,
    expires_at integer NOT NULL
) STRICT;
