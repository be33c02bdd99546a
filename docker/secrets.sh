#!/bin/sh
# Makes the secrets that compose.yaml hands out, each to whoever needs it. What is there stays as it is.
#   sh secrets.sh
#   POSTGRES_PASSWORD=… VALKEY_PASSWORD=… SLOPSIEVE_SECRET_KEY=… sh secrets.sh    # those in use so far
set -eu
cd "$(dirname "$0")"
# Users in containers read the files; on this host nobody else gets through the folder.
umask 022
mkdir -p -m 0700 secrets
keep() { [ -s "secrets/$1" ] || printf '%s\n' "${2:-$(openssl rand -hex 32)}" > "secrets/$1"; }
# Signs sessions and keys the hashes of senders: lose it and all are signed out and every sender is new.
keep secret_key "${SLOPSIEVE_SECRET_KEY:-}"
keep postgres_password "${POSTGRES_PASSWORD:-}"
keep valkey_password "${VALKEY_PASSWORD:-}"
keep grafana_password "${GRAFANA_PASSWORD:-}"
keep database_url "postgresql+psycopg://slopsieve:$(cat secrets/postgres_password)@postgres:5432/slopsieve"
keep valkey_url "redis://:$(cat secrets/valkey_password)@valkey:6379/0"
