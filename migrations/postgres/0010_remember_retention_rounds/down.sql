DROP TABLE retention_doubts;
DROP TABLE retention_rounds;
