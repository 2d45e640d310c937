DROP TABLE lens_revisions;
