#!/bin/sh
# Gives the folder to PostgreSQL's own user, becomes that user, and makes the database where there is none.
set -e
if [ "$1" = postgres ] && [ "$(id -u)" = 0 ]; then
    mkdir -p "$PGDATA" && chmod 0700 "$PGDATA"
    find "$PGDATA" ! -user postgres -exec chown postgres '{}' +
    POSTGRES_PASSWORD="$(cat "$POSTGRES_PASSWORD_FILE")"
    export POSTGRES_PASSWORD
    exec setpriv --reuid=postgres --regid=postgres --clear-groups "$0" "$@"
fi
if [ "$1" = postgres ] && [ ! -s "$PGDATA/PG_VERSION" ]; then
    printf '%s' "$POSTGRES_PASSWORD" > /tmp/password
    # Its words are meant to be split.
    # shellcheck disable=SC2086
    initdb --username="$POSTGRES_USER" --pwfile=/tmp/password --auth-host=scram-sha-256 $POSTGRES_INITDB_ARGS
    rm /tmp/password
    echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
    pg_ctl -w -o "-c listen_addresses= -c unix_socket_directories=/run/postgresql" start
    createdb --host /run/postgresql --username "$POSTGRES_USER" "$POSTGRES_DB"
    pg_ctl -w -m fast stop
fi
exec "$@"
