DROP TABLE watched_results;
DROP TABLE watch_hours;
