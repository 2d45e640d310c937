#!/bin/sh
# Applies the prisms of a folder and checks them, for a CI job. Running it again changes nothing.
#
# usage: apply-prisms.sh FOLDER
#
# DATABASE_URL and REFRACT_MODEL_URL (with its key) come from the job's secrets. FOLDER has
# NAME.prism.json and NAME.lens.json, and where there are texts with known answers NAME.gold.csv, of up
# to 100 rows: they become the prism's examples.
set -eu
folder=$1
note=${CI_COMMIT_SHA:-$(date -u +%FT%TZ)}

# 0: nothing would change, 2: something would, 1: a file is wrong
status=0
refract apply "$folder" --dry-run || status=$?
test "$status" -ne 1

if test "$status" -eq 2; then
    refract apply "$folder" --note "$note"
fi

# exits 1 if a requirement is not met; answered rows are not asked about again
for gold in "$folder"/*.gold.csv; do
    test -e "$gold" || continue
    prism=$(basename "$gold" .gold.csv)
    refract check "$prism" "$gold" --junit "$prism.junit.xml" --require "${REQUIRE:-topic.accuracy>=0.5}"
    refract examples import "$prism" "$gold"
done

# a key for the service that calls; the key is shown once, so only a new one is stored
key=$(refract key create --name "${KEY_NAME:-ci}" --if-missing)
case $key in
    *'"key":null'*) echo "the key is there" >&2 ;;
    *) umask 077 && printf '%s\n' "$key" > refract-key.json ;;
esac
