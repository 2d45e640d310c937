-- what an account may spend in a calendar month, and what it has spent
CREATE TABLE account_budgets (
    account_id blob NOT NULL PRIMARY KEY REFERENCES accounts (id),
    -- in billionths of the currency of the costs
    budget_nanos integer NOT NULL,
    -- the month that is counted: its first day in UTC, as days since 1970
    month integer NOT NULL,
    -- the month's results up to this id are in the cost
    counted_to blob NOT NULL,
    -- whole billionths, and the rest in billionths of these
    cost_nanos integer NOT NULL,
    cost_attos integer NOT NULL,
    -- the share of the budget, in percent, that was announced in the month; 0 for none
    announced_percent integer NOT NULL
) STRICT;
