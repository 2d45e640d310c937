-- without the table nobody can sign in who has no password: an owner makes them a new link
DROP TABLE provider_sessions;
DROP TABLE provider_subjects;
