DROP TABLE retention_rounds;
