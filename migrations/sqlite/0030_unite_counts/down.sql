CREATE TABLE counted_budgets (
    account_id blob NOT NULL PRIMARY KEY REFERENCES accounts (id),
    budget_nanos integer NOT NULL,
    month integer NOT NULL,
    counted_to blob NOT NULL,
    cost_nanos integer NOT NULL,
    cost_attos integer NOT NULL,
    announced_percent integer NOT NULL
) STRICT;
-- added up again at the next look
INSERT INTO counted_budgets
    SELECT account_id, budget_nanos, month, x'00000000000000000000000000000000', 0, 0,
        announced_percent
    FROM account_budgets;
DROP TABLE account_budgets;
ALTER TABLE counted_budgets RENAME TO account_budgets;
