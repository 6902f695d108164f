#!/bin/sh
# Creates Temporal's two databases, or brings their schema up to the version of this image. Doing it again changes nothing.
# Needs POSTGRES_SEEDS (host), POSTGRES_USER and SQL_PASSWORD, which the tool reads by itself.
set -eu

: "${POSTGRES_SEEDS:?}" "${POSTGRES_USER:?}" "${SQL_PASSWORD:?}"

for name in temporal visibility; do
  database=temporal
  [ "$name" = visibility ] && database=temporal_visibility
  sql() {
    temporal-sql-tool --plugin postgres12 --ep "$POSTGRES_SEEDS" --port "${DB_PORT:-5432}" \
      --user "$POSTGRES_USER" --db "$database" "$@"
  }
  sql create-database
  sql setup-schema --version 0.0
  sql update-schema --schema-dir "/etc/temporal/schema/postgresql/v12/$name/versioned"
done
echo 'the schema is up to date'
