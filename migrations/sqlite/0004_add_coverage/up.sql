-- what the answers were read from, in millionths, where a model writes codes; null for all other
-- results and for results that were saved before
-- the probability that fell on the codes: the least of the questions
ALTER TABLE results ADD COLUMN on_codes_millionths integer;
-- the part of it that could not be read and was split evenly: the largest of the questions
ALTER TABLE results ADD COLUMN unread_millionths integer;
