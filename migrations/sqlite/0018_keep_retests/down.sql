DROP TABLE retest_answers;
DROP TABLE retests;
