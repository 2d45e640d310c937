-- the results of a prism by age, for purging them. It is an index of an expression, so that no search
-- within a period takes it for its own: that one needs its results in the order of their ids
CREATE INDEX results_prism_id_age ON results (prism_id, COALESCE(created_at, created_at));

-- work that one node at a time does for all of them
CREATE TABLE leases (
    name text NOT NULL PRIMARY KEY,
    -- the node, by an id that it made at its start
    holder blob NOT NULL,
    -- another node may take a lease that its holder has not renewed by then
    expires_at integer NOT NULL
) STRICT;
