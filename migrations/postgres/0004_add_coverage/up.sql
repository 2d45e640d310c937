-- what the answers were read from, in millionths, where a model writes codes; null for all other
-- results and for results that were saved before. Neither column has a default or a check: adding
-- them only changes the catalogue, however many rows there are
ALTER TABLE results
    -- the probability that fell on the codes: the least of the questions
    ADD COLUMN on_codes_millionths integer,
    -- the part of it that could not be read and was split evenly: the largest of the questions
    ADD COLUMN unread_millionths integer;
