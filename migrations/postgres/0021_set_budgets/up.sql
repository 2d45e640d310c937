-- what an account may spend in a calendar month, and what it has spent
CREATE TABLE account_budgets (
    account_id uuid PRIMARY KEY REFERENCES accounts (id),
    -- in billionths of the currency of the costs
    budget_nanos bigint NOT NULL,
    -- the month that is counted: its first day in UTC, as days since 1970
    month integer NOT NULL,
    -- the month's results up to this id are in the cost
    counted_to uuid NOT NULL,
    -- whole billionths, and the rest in billionths of these
    cost_nanos bigint NOT NULL,
    cost_attos bigint NOT NULL,
    -- the share of the budget, in percent, that was announced in the month; 0 for none
    announced_percent integer NOT NULL
);
