DROP TABLE server_facts;
