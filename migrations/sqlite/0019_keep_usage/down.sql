DROP TABLE deleted_usage;
