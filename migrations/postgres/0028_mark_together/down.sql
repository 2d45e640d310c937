DROP TABLE other_marks;
ALTER TABLE marks DROP COLUMN marked_as;
ALTER TABLE marks DROP COLUMN person_id;
