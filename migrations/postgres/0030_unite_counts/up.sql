-- what a month has cost is read from usage_days; the month is that in which a share was announced
ALTER TABLE account_budgets
    DROP COLUMN counted_to,
    DROP COLUMN cost_nanos,
    DROP COLUMN cost_attos;
