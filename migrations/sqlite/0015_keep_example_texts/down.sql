DROP TABLE example_checks;
DROP TABLE prism_examples;
