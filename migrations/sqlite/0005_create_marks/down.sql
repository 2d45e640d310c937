DROP TABLE marks;
