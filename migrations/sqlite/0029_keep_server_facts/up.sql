-- what nodes and commands learned about model servers, so that the next process need not learn it
-- again. Rows are read for a day; nothing refers to them, and old nodes know none
CREATE TABLE server_facts (
    -- protocol, model and addresses, without credentials
    servers text PRIMARY KEY NOT NULL,
    -- JSON that only the model gateway reads
    facts text NOT NULL,
    learned_at integer NOT NULL
) STRICT;
