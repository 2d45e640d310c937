DROP TABLE account_budgets;
