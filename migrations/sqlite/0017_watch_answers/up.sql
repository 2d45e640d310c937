-- counts of results by hour, from which windows of time are compared. They have no text and no id of
-- a result, and stay when results are deleted
CREATE TABLE watch_hours (
    prism_id blob NOT NULL REFERENCES prisms (id) ON DELETE CASCADE,
    -- whole hours since 1970, by the moments in the results' ids
    hour integer NOT NULL,
    version integer NOT NULL,
    -- empty where the server names none
    model_name text NOT NULL,
    -- 0 for a model that gets no prompt
    prompt_version integer NOT NULL,
    -- the moment of the first of these results
    first_at integer NOT NULL,
    -- as JSON
    counts text NOT NULL,
    PRIMARY KEY (prism_id, hour, version, model_name, prompt_version)
) STRICT;

-- the id up to which a prism's results are in its hours
CREATE TABLE watched_results (
    prism_id blob NOT NULL PRIMARY KEY REFERENCES prisms (id) ON DELETE CASCADE,
    up_to blob NOT NULL
) STRICT;
