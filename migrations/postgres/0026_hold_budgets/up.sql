-- what file runs hold back of a budget: the estimated cost of rows in flight
CREATE TABLE budget_holds (
    -- one work on one file run
    holder uuid PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES accounts (id),
    -- in billionths of the currency of the costs
    held_nanos bigint NOT NULL,
    expires_at timestamptz NOT NULL
);
